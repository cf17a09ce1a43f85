#include "tools/eval/grader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/text/scan.h"
#include "verifier/verify.h"

namespace lie::evaluation {

namespace {

constexpr std::string_view kBlanks = " \t\n\r";

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

/// Parses a text from a position onwards.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  void skip(std::string_view characters) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(characters), rest_.size()));
  }
  /// Consumes `word` in any case, after blanks. Returns whether it was there.
  bool take(std::string_view word) {
    skip(kBlanks);
    const bool is_there = rest_.size() >= word.size() &&
                          std::ranges::equal(rest_.substr(0, word.size()), word, {}, to_lower);
    if (is_there) rest_.remove_prefix(word.size());
    return is_there;
  }
  bool take_colon() { return take(":") || take("：") || take("**:"); }
  /// Consumes a letter that stands alone, perhaps in bold and brackets.
  std::optional<char> take_choice() {
    skip(" \t\n\r*");
    const bool in_brackets = take("(");
    if (rest_.empty() || !is_letter(rest_[0])) return std::nullopt;
    const char letter = rest_[0];
    rest_.remove_prefix(1);
    if (!rest_.empty() && is_letter_or_digit(rest_[0])) return std::nullopt;
    const bool closes = take(")");
    if (to_lower(letter) == letter && !(in_brackets && closes)) return std::nullopt;
    return to_lower(letter) <= 'j' ? std::optional(to_upper(letter)) : std::nullopt;
  }

 private:
  std::string_view rest_;
};

using Pattern = std::optional<char> (*)(Reader);

/// The patterns in the order in which they are tried.
constexpr std::array<Pattern, 4> kPatterns = {
    [](Reader text) -> std::optional<char> {
      if (!text.take("answer") || !text.take_colon()) return std::nullopt;
      return text.take_choice();
    },
    [](Reader text) -> std::optional<char> {
      if (!text.take("answer") || !text.take("is")) return std::nullopt;
      text.take_colon();
      return text.take_choice();
    },
    [](Reader text) -> std::optional<char> {
      if (!text.take("option")) return std::nullopt;
      const std::optional<char> choice = text.take_choice();
      return text.take("is") && text.take("correct") ? choice : std::nullopt;
    },
    [](Reader text) -> std::optional<char> {
      if (!text.take("choose") && !text.take("select")) return std::nullopt;
      return text.take_choice();
    }};

/// Returns the choice at the last word of `text` where the pattern matches.
std::optional<char> last_match(Pattern pattern, std::string_view text) {
  for (std::size_t i = text.size(); i-- > 0;) {
    if (!is_letter(text[i]) || (i > 0 && is_letter_or_digit(text[i - 1]))) continue;
    if (const auto choice = pattern(Reader(text.substr(i)))) return choice;
  }
  return std::nullopt;
}

/// Returns the choice of the last line that begins with a capital letter and a bracket.
std::optional<char> last_line_of_a_choice(std::string_view text) {
  for (std::size_t end = text.size(); end != std::string_view::npos;) {
    const std::size_t newline = end == 0 ? std::string_view::npos : text.rfind('\n', end - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    std::string_view line = text.substr(begin, end - begin);
    line.remove_prefix(std::min(line.find_first_not_of(" \t*("), line.size()));
    const bool fits = line.size() > 1 && line[0] >= 'A' && line[0] <= 'J' && line[1] == ')';
    if (fits) return line[0];
    end = newline;
  }
  return std::nullopt;
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
  const char letter = to_upper(text[0]);
  return letter <= 'J' ? std::optional(letter) : std::nullopt;
}

bool is_choice(std::string_view gold) {
  return gold.size() == 1 && gold[0] >= 'A' && gold[0] <= 'J';
}

std::int64_t count_digit_keys(std::span<const Prompt> prompts) {
  std::set<std::string_view> choices;  // data sources
  for (const Prompt& prompt : prompts) {
    if (is_choice(prompt.gold)) choices.insert(prompt.data_source);
  }
  return std::ranges::count_if(prompts, [&](const Prompt& prompt) {
    return prompt.gold.size() == 1 && is_digit(prompt.gold[0]) &&
           choices.contains(prompt.data_source);
  });
}

std::optional<char> choice_by_pattern(std::string_view response) {
  for (const Pattern pattern : kPatterns) {
    if (const auto choice = last_match(pattern, response)) return choice;
  }
  return last_line_of_a_choice(response);
}

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

Grader::Grader(const ScoringOptions& options, DecodeText decode, std::vector<std::int64_t> budgets,
               const ProgramHost& host, bool choice_patterns)
    : scorer_(options, host),
      decode_(std::move(decode)),
      budgets_(std::move(budgets)),
      choice_patterns_(choice_patterns) {}

ScoredGroup Grader::score(RolloutGroup group) {
  ScoredGroup scored = score_group(scorer_, std::move(group), decode_);
  const std::string& gold = scored.rollout.ticket.prompt.gold;
  for (std::size_t i = 0; i < scored.scores.size(); ++i) {
    Score& score = scored.scores[i];
    if (!is_choice(gold)) continue;
    std::optional<char> letter = choice_letter(score.extracted);
    if (!letter && choice_patterns_) {
      letter = choice_by_pattern(decode_(scored.rollout.responses[i].ids));
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
  for (const std::int64_t budget : budgets_) {
    const std::vector<char> right =
        correct_within(group, budget, [&](RolloutGroup cut) { return score(std::move(cut)); });
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
