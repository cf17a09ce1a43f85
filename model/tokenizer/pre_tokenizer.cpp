#define PCRE2_CODE_UNIT_WIDTH 8
#include "model/tokenizer/pre_tokenizer.h"

#include <pcre2.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"
#include "common/text/scan.h"
#include "model/tokenizer/oniguruma.h"

namespace lie {
namespace {

// A match of a published pattern takes a few steps for each byte of the longest run of blanks. An
// untrusted pattern may take 2^n steps for n bytes.
constexpr std::uint64_t kStepsOfAnyMatch = 20'000'000, kStepsPerByte = 100;

// Latin-1 characters that PCRE2 classifies as a letter, a number, a space and none of these.
constexpr char kShadowLetter = '\xc0';
constexpr char kShadowNumber = '\xb2';
constexpr char kShadowSpace = '\xa0';
constexpr char kShadowOther = '\xa7';
// The two letters beyond ASCII that equal an ASCII letter if case is ignored. Their substitutes are
// upper case letters. The patterns' literals are lower case, so a case-sensitive pattern does not
// match them.
constexpr std::uint32_t kLongS = 0x17f;
constexpr std::uint32_t kKelvin = 0x212a;

/// Returns whether the pattern gives the same matches on a text's shadow as on the text.
bool can_match_shadow(std::string_view pattern) {
  if (pattern.find("[:") != std::string_view::npos) return false;  // [[:upper:]] and the like
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (static_cast<unsigned char>(pattern[i]) >= 0x80) return false;
    if (pattern[i] != '\\' || i + 1 == pattern.size()) continue;
    ++i;
    const std::string_view rest = pattern.substr(i);
    if (rest.starts_with("p{L}") || rest.starts_with("p{N}") || rest.starts_with("P{L}") ||
        rest.starts_with("P{N}")) {
      continue;
    }
    if (is_letter(rest[0]) && std::string_view("sSrnt").find(rest[0]) == std::string_view::npos)
      return false;
  }
  return true;
}

std::string error_message(int code) {
  std::array<PCRE2_UCHAR, 256> text = {};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Converts positions in the shadow (code points) into positions in the text (bytes).
void to_byte_positions(std::string_view text, std::span<TextRange> ranges) {
  std::size_t byte = 0;
  for (TextRange& range : ranges) {
    const std::size_t code_points = range.end - range.begin;
    range.begin = byte;
    for (std::size_t i = 0; i < code_points; ++i) byte += utf8_length(text[byte]);
    range.end = byte;
  }
}

}  // namespace

struct Regex::Compiled {
  std::unique_ptr<pcre2_code, Freed<pcre2_code_free>> code;
  bool is_jit = false;
};

Regex::Regex(const std::string& oniguruma, const UnicodeTable& table)
    : table_(table), compiled_(std::make_unique<Compiled>()) {
  const std::string pattern = pcre2_pattern(oniguruma);
  uses_shadow_ = can_match_shadow(pattern);
  int error = 0;
  PCRE2_SIZE position = 0;
  const std::uint32_t options =
      PCRE2_UCP | PCRE2_MULTILINE | (uses_shadow_ ? 0u : PCRE2_UTF | PCRE2_NO_UTF_CHECK);
  compiled_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                      options, &error, &position, nullptr));
  if (!compiled_->code) {
    fail("regular expression \"{}\": {} at position {}", oniguruma, error_message(error), position);
  }
  compiled_->is_jit = pcre2_jit_compile(compiled_->code.get(), PCRE2_JIT_COMPLETE) == 0;
}

Regex::~Regex() = default;

void Regex::split(std::string_view text, std::vector<TextRange>& out) const {
  if (!uses_shadow_ || is_ascii(text)) return split_bytes(text, out);
  const std::size_t first = out.size();
  split_bytes(shadow(text), out);
  to_byte_positions(text, std::span(out).subspan(first));
}

void Regex::split_bytes(std::string_view subject, std::vector<TextRange>& out) const {
  const std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context_free>> limits(
      pcre2_match_context_create(nullptr));
  const std::uint64_t steps = kStepsOfAnyMatch + kStepsPerByte * subject.size();
  pcre2_set_match_limit(limits.get(),
                        static_cast<std::uint32_t>(std::min<std::uint64_t>(steps, UINT32_MAX)));
  const auto* bytes = reinterpret_cast<PCRE2_SPTR>(subject.data());
  const std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data_free>> match(
      pcre2_match_data_create(1, nullptr));
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match.get());
  std::size_t done = 0;  // the text before this position is in `out`
  for (std::size_t start = 0; start < subject.size();) {
    const int found = compiled_->is_jit
                          ? pcre2_jit_match(compiled_->code.get(), bytes, subject.size(), start, 0,
                                            match.get(), limits.get())
                          : pcre2_match(compiled_->code.get(), bytes, subject.size(), start,
                                        PCRE2_NO_UTF_CHECK, match.get(), limits.get());
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) fail("splitting text by a regular expression: {}", error_message(found));
    if (range[0] > done) out.push_back({done, range[0], false});
    if (range[1] > range[0]) out.push_back({range[0], range[1], true});
    done = range[1];
    start = range[1];
    // An empty match also splits the text. The search resumes after the next character.
    if (range[1] == range[0] && start < subject.size())
      start += uses_shadow_ ? 1 : utf8_length(subject[start]);
  }
  if (done < subject.size()) out.push_back({done, subject.size(), false});
}

std::string Regex::shadow(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); i += utf8_length(text[i])) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      out += text[i];
      continue;
    }
    const std::uint32_t code_point = utf8_decode(text, i);
    const std::uint8_t flags = table_.flags(code_point);
    char substitute = kShadowOther;
    if ((flags & kLetter) != 0) substitute = kShadowLetter;
    if ((flags & kNumber) != 0) substitute = kShadowNumber;
    if ((flags & kSpace) != 0) substitute = kShadowSpace;
    if (code_point == kLongS) substitute = 'S';
    if (code_point == kKelvin) substitute = 'K';
    out += substitute;
  }
  return out;
}

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
