#include "tools/eval/judge.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "verifier/verify.h"

namespace lie::evaluation {
namespace {

/// Strips typesetting commands, such as \text{ or \mathbf{, and opening brackets from the front.
std::string_view without_wrapping(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWraps = {"\\text{",   "\\textbf{", "\\textrm{",
                                                      "\\mathrm{", "\\mathbf{", "\\mathbf",
                                                      "\\mathrm",  "\\text",    "\\left"};
  for (bool again = true; again;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n({[$*~"), text.size()));
    again = false;
    for (const std::string_view wrap : kWraps) {
      if (!text.starts_with(wrap)) continue;
      text.remove_prefix(wrap.size());
      again = true;
      break;
    }
  }
  return text;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The same answer: equal by the verifier, or the same choice.
bool same_answer(const std::string& a, const std::string& b, const VerifierOptions& options) {
  return a == b || verify(a, "\\boxed{" + b + "}", options).correct();
}

}  // namespace

std::optional<char> choice_letter(std::string_view answer) {
  const std::string_view text = without_wrapping(answer);
  if (text.empty() || !is_letter(text[0])) return std::nullopt;
  // "Always" is no choice A, and A = 3 is mathematics.
  if (text.size() > 1 && std::string_view(" )}].:,*\\").find(text[1]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t next = std::min(text.find_first_not_of(" )}]*", 1), text.size());
  if (next < text.size() && std::string_view("=+-^_").find(text[next]) != std::string_view::npos) {
    return std::nullopt;
  }
  const char letter = static_cast<char>(text[0] & ~0x20);
  return letter <= 'J' ? std::optional(letter) : std::nullopt;
}

bool is_choice(std::string_view gold) {
  return gold.size() == 1 && gold[0] >= 'A' && gold[0] <= 'J';
}

std::int64_t JudgedProblem::right() const {
  return std::count_if(samples.begin(), samples.end(),
                       [](const JudgedSample& sample) { return sample.right; });
}

Judge::Judge(const ScoringOptions& options, DecodeText decode, std::vector<std::int64_t> budgets,
             const ProgramHost& host)
    : scorer_(options, host), decode_(std::move(decode)), budgets_(std::move(budgets)) {}

ScoredGroup Judge::score(RolloutGroup group) {
  ScoredGroup scored = score_group(scorer_, std::move(group), decode_);
  const std::string& gold = scored.rollout.ticket.prompt.gold;
  for (std::size_t i = 0; i < scored.scores.size(); ++i) {
    Score& score = scored.scores[i];
    if (!is_choice(gold) || choice_letter(score.extracted) != gold[0]) continue;
    score.verdict = VerdictCode::kEqual;
    score.rewards = scorer_.rewards(
        {scored.rollout.ticket, scored.rollout.responses[i], scored.texts[i], score});
  }
  return scored;
}

std::vector<JudgedSample> Judge::judge(const ScoredGroup& group) {
  std::vector<JudgedSample> samples;
  for (std::size_t i = 0; i < group.scores.size(); ++i) {
    const Response& response = group.rollout.responses[i];
    const Score& score = group.scores[i];
    JudgedSample sample{.right = score.verdict == VerdictCode::kEqual,
                        .verdict = score.verdict,
                        .answer = score.extracted,
                        .tokens = std::ssize(response.ids),
                        .truncated = response.finish == FinishReason::kLength,
                        .right_at = {}};
    samples.push_back(std::move(sample));
  }
  for (const std::int64_t budget : budgets_) {
    const std::vector<char> right =
        right_within(group, budget, [&](RolloutGroup cut) { return score(std::move(cut)); });
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].right_at.push_back(right[i]);
  }
  return samples;
}

std::vector<std::int32_t> answer_classes(std::span<const JudgedSample> samples,
                                         const VerifierOptions& options) {
  std::vector<std::string> representatives;
  std::map<std::string, std::int32_t> known;
  std::vector<std::int32_t> classes;
  for (const JudgedSample& sample : samples) {
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
