#include "tools/eval/grader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "rewards/budgets.h"
#include "verifier/verify.h"

namespace lie::evaluation {

namespace {

/// Returns whether two answers are equal as texts or by the verifier.
bool same_answer(const std::string& a, const std::string& b, const VerifierOptions& options) {
  return a == b || verify(a, "\\boxed{" + b + "}", options).correct();
}

}  // namespace

std::int64_t GradedProblem::right() const {
  return std::count_if(samples.begin(), samples.end(),
                       [](const GradedSample& sample) { return sample.right; });
}

bool GradedProblem::has_answers() const {
  return std::ranges::none_of(
      samples, [](const GradedSample& sample) { return sample.right && sample.answer.empty(); });
}

Grader::Grader(const ScoringOptions& options, DecodeText decode, std::vector<std::int64_t> budgets,
               const ProgramHost& host, bool choice_patterns)
    : scorer_(options, host),
      decode_(std::move(decode)),
      budgets_(std::move(budgets)),
      reads_letters_(options.verifier_program.command.empty()) {
  if (choice_patterns) choice_patterns_.emplace();
}

ScoredGroup Grader::score(RolloutGroup group, std::span<const std::size_t> samples) {
  ScoredGroup scored = score_group(scorer_, std::move(group), decode_, samples);
  const std::string& gold = scored.rollout.ticket.prompt.gold;
  for (std::size_t i = 0; i < scored.scores.size(); ++i) {
    Score& score = scored.scores[i];
    if (!reads_letters_ || !is_choice(gold)) continue;
    std::optional<char> letter = choice_letter(score.extracted);
    if (!letter && choice_patterns_) {
      letter = choice_patterns_->find(decode_(scored.rollout.responses[i].ids));
      if (letter) score.extracted = *letter;
    }
    if (!letter || score.verdict == VerdictCode::kEqual) continue;
    score.verdict = letter == gold[0] ? VerdictCode::kEqual : VerdictCode::kUnequal;
    score.rewards = scorer_.rewards(
        {scored.rollout.ticket, scored.rollout.responses[i], scored.texts[i], score});
  }
  return scored;
}

std::vector<GradedSample> Grader::grade(const ScoredGroup& group) {
  std::vector<GradedSample> samples;
  for (std::size_t i = 0; i < group.scores.size(); ++i) {
    const Response& response = group.rollout.responses[i];
    const Score& score = group.scores[i];
    GradedSample sample{.right = score.verdict == VerdictCode::kEqual,
                        .verdict = score.verdict,
                        .answer = score.extracted,
                        .tokens = std::ssize(response.ids),
                        .truncated = response.finish == FinishReason::kLength,
                        .right_at = {}};
    samples.push_back(std::move(sample));
  }
  const auto score_cut = [this](RolloutGroup cut, std::span<const std::size_t> cut_samples) {
    return score(std::move(cut), cut_samples).scores;
  };
  for (const std::int64_t budget : budgets_) {
    const std::vector<char> right = correct_within(group, budget, score_cut);
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].right_at.push_back(right[i]);
  }
  return samples;
}

std::vector<std::int32_t> answer_classes(std::span<const GradedSample> samples,
                                         const VerifierOptions& options) {
  std::vector<std::string> representatives;
  std::map<std::string, std::int32_t> known;
  std::vector<std::int32_t> classes;
  for (const GradedSample& sample : samples) {
    if (sample.answer.empty()) {
      classes.push_back(-1);
      continue;
    }
    const auto [found, fresh] = known.emplace(sample.answer, 0);
    if (fresh) {
      const auto equal = std::find_if(
          representatives.begin(), representatives.end(),
          [&](const std::string& r) { return same_answer(r, sample.answer, options); });
      found->second = static_cast<std::int32_t>(equal - representatives.begin());
      if (equal == representatives.end()) representatives.push_back(sample.answer);
    }
    classes.push_back(found->second);
  }
  return classes;
}

}  // namespace lie::evaluation
