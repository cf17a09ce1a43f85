#include "model/tokenizer/added_tokens.h"

#include <algorithm>

namespace lie {

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens, const UnicodeTable& table)
    : table_(table), tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.pattern < b.pattern; });
  for (std::size_t begin = 0; begin < tokens_.size();) {
    const char first = tokens_[begin].pattern[0];
    std::size_t end = begin;
    while (end < tokens_.size() && tokens_[end].pattern[0] == first) ++end;
    by_first_byte_[static_cast<unsigned char>(first)] =
        std::span(tokens_).subspan(begin, end - begin);
    begin = end;
  }
}

void AddedTokenFinder::split(std::string_view text, std::vector<Piece>& out) const {
  std::size_t done = 0;
  if (!tokens_.empty()) {
    Match match;
    while ((match = next_match(text, match.end)).token != nullptr) {
      const AddedToken& token = *match.token;
      if (token.single_word && !is_separate_word(text, match)) continue;
      const std::size_t begin =
          token.lstrip ? std::max(begin_of_spaces(text, match.begin), done) : match.begin;
      const std::size_t end = token.rstrip ? end_of_spaces(text, match.end) : match.end;
      if (done < begin) out.push_back({text.substr(done, begin - done), -1});
      out.push_back({{}, token.id});
      done = end;
    }
  }
  if (done < text.size()) out.push_back({text.substr(done), -1});
}

AddedTokenFinder::Match AddedTokenFinder::next_match(std::string_view text,
                                                     std::size_t from) const {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (const AddedToken* token = longest_at(text, i)) return {i, i + token->pattern.size(), token};
  }
  return {};
}

/// Narrows the sorted tokens, byte by byte, to those with the same prefix as the text.
const AddedToken* AddedTokenFinder::longest_at(std::string_view text, std::size_t position) const {
  const AddedToken* longest = nullptr;
  const std::string_view rest = text.substr(position);
  std::span<const AddedToken> range = by_first_byte_[static_cast<unsigned char>(rest[0])];
  for (std::size_t length = 1; !range.empty(); ++length) {
    if (range.front().pattern.size() == length) {
      longest = &range.front();
      range = range.subspan(1);
    }
    if (length == rest.size()) break;
    const auto next = static_cast<unsigned char>(rest[length]);
    const auto byte_of = [&](const AddedToken& token) {
      return static_cast<unsigned char>(token.pattern[length]);
    };
    // Two calls instead of equal_range, which clang 14 does not compile.
    const auto low = std::ranges::lower_bound(range, next, {}, byte_of);
    const auto high = std::ranges::upper_bound(range, next, {}, byte_of);
    range = {low, high};
  }
  return longest;
}

bool AddedTokenFinder::is_separate_word(std::string_view text, const Match& match) const {
  if (match.begin > 0 && table_.has(utf8_decode(text, utf8_previous(text, match.begin)), kWord))
    return false;
  return match.end == text.size() || !table_.has(utf8_decode(text, match.end), kWord);
}

std::size_t AddedTokenFinder::begin_of_spaces(std::string_view text, std::size_t position) const {
  while (position > 0) {
    const std::size_t before = utf8_previous(text, position);
    if (!table_.has(utf8_decode(text, before), kSpace)) break;
    position = before;
  }
  return position;
}

std::size_t AddedTokenFinder::end_of_spaces(std::string_view text, std::size_t position) const {
  while (position < text.size() && table_.has(utf8_decode(text, position), kSpace)) {
    position += utf8_length(text[position]);
  }
  return position;
}

}  // namespace lie
