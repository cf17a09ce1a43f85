#include "model/tokenizer/pre_tokenizer.h"

#include <string>

#include "model/tokenizer/utf8.h"

namespace lie {
namespace {

// The pattern of GPT-2 (Radford et al. 2019), as in the library's ByteLevel.
constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Returns the pattern of a step, or null if it splits by no pattern.
const char* pattern_of(const PreTokenizerStep& step) {
  if (const auto* split = std::get_if<SplitStep>(&step)) return split->pattern.c_str();
  const auto* byte_level = std::get_if<ByteLevelStep>(&step);
  return byte_level != nullptr && byte_level->use_regex ? kGpt2Pattern : nullptr;
}

bool is_dropped(const PreTokenizerStep& step, const TextRange& range) {
  const auto* split = std::get_if<SplitStep>(&step);
  return split != nullptr && split->behavior == SplitStep::Behavior::kRemoved &&
         range.is_match != split->invert;
}

}  // namespace

PreTokenizer::PreTokenizer(std::span<const PreTokenizerStep> steps, const UnicodeTable& table)
    : table_(table) {
  for (const PreTokenizerStep& step : steps) {
    const char* pattern = pattern_of(step);
    steps_.push_back(
        {step, pattern == nullptr ? nullptr : std::make_unique<Regex>(pattern, table)});
  }
}

void PreTokenizer::split(std::string_view piece, const Word& word) const {
  if (!piece.empty()) run(0, piece, word);
}

void PreTokenizer::run(std::size_t step, std::string_view piece, const Word& word) const {
  if (step == steps_.size()) return word(piece);
  const PreTokenizerStep& spec = steps_[step].spec;
  const auto* byte_level = std::get_if<ByteLevelStep>(&spec);
  std::string with_space;
  if (byte_level != nullptr && byte_level->add_prefix_space && piece[0] != ' ') {
    with_space.append(" ").append(piece);
    piece = with_space;
  }
  if (steps_[step].regex) {
    run_regex(step, piece, word);
  } else if (std::holds_alternative<DigitsStep>(spec)) {
    run_digits(step, piece, word);
  } else {
    run(step + 1, piece, word);
  }
}

void PreTokenizer::run_regex(std::size_t step, std::string_view piece, const Word& word) const {
  std::vector<TextRange> ranges;
  steps_[step].regex->split(piece, ranges);
  for (const TextRange& range : ranges) {
    if (is_dropped(steps_[step].spec, range)) continue;
    run(step + 1, piece.substr(range.begin, range.end - range.begin), word);
  }
}

void PreTokenizer::run_digits(std::size_t step, std::string_view piece, const Word& word) const {
  const bool individual = std::get<DigitsStep>(steps_[step].spec).individual;
  std::size_t begin = 0;
  bool was_digit = false;
  for (std::size_t i = 0; i < piece.size(); i += utf8_length(piece[i])) {
    const bool is_digit = table_.has(utf8_decode(piece, i), kNumeric);
    const bool is_cut = is_digit != was_digit || (is_digit && individual);
    if (is_cut && i > begin) {
      run(step + 1, piece.substr(begin, i - begin), word);
      begin = i;
    }
    was_digit = is_digit;
  }
  run(step + 1, piece.substr(begin), word);
}

}  // namespace lie
