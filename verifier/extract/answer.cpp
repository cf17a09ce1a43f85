#include "verifier/extract/answer.h"

#include <fmt/format.h>

#include <array>

#include "common/text/scan.h"
#include "verifier/extract/boxed.h"

namespace lie::extract {
namespace {

// Removes "$...$", "$$...$$", "\(...\)" or "\[...\]" around the whole text. Delimiters inside show
// that the outer ones are no pair.
std::string_view without_delimiters(std::string_view s) {
  struct Pair {
    std::string_view open, close;
  };
  constexpr auto kPairs =
      std::to_array<Pair>({{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}});
  for (const Pair& pair : kPairs) {
    if (s.size() < pair.open.size() + pair.close.size() || !s.starts_with(pair.open) ||
        !s.ends_with(pair.close))
      continue;
    const std::string_view inner =
        s.substr(pair.open.size(), s.size() - pair.open.size() - pair.close.size());
    const bool paired = inner.find(pair.open) == std::string_view::npos && !inner.ends_with('\\');
    return paired ? trimmed(inner) : s;
  }
  return s;
}

// Returns the elements of a list as Python prints one of strings: ['5', '6'].
std::string without_quotes(std::string_view s) {
  std::string out(s);
  for (const std::string_view quote : {"'", "\""}) {
    const std::string open = fmt::format("[{}", quote), close = fmt::format("{}]", quote);
    const std::string between = fmt::format("{0}, {0}", quote);
    if (s.size() < 5 || !s.starts_with(open) || !s.ends_with(close)) continue;
    out = s.substr(2, s.size() - 4);
    for (std::size_t at = out.find(between); at != out.npos; at = out.find(between, at))
      out.replace(at, between.size(), ", ");
  }
  return out;
}

}  // namespace

std::vector<Candidate> from_boxes(std::string_view response, const VerifierOptions& options) {
  if (options.after_think) response = after_think(response);
  const std::vector<Box> boxes = last_boxes(response, options.fbox, options.join_boxes);
  if (boxes.empty()) return {};
  std::string joined(trimmed(boxes.front().content));
  for (std::size_t i = 1; i < boxes.size(); ++i)
    if (boxes[i].content != boxes[i - 1].content)
      joined.append(", ").append(trimmed(boxes[i].content));
  return {{std::move(joined)}};
}

std::string from_gold(std::string_view gold, const VerifierOptions& options) {
  if (const std::size_t mark = gold.rfind("####"); mark != std::string_view::npos)
    gold = gold.substr(mark + 4);
  if (gold.find("\\boxed") != std::string_view::npos ||
      gold.find("\\fbox") != std::string_view::npos) {
    const std::vector<Candidate> boxed = from_boxes(gold, options);
    if (!boxed.empty()) return boxed.front().text;
  }
  return without_quotes(without_delimiters(trimmed(gold)));
}

}  // namespace lie::extract
