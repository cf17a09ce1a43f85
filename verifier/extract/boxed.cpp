#include "verifier/extract/boxed.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace lie::extract {
namespace {

constexpr std::string_view kThinkEnd = "</think>";
constexpr std::string_view kBoxed = "\\boxed";
constexpr std::string_view kFbox = "\\fbox";

// Length of the box command that starts at a backslash, or 0.
std::size_t command_length(std::string_view at, bool fbox) {
  if (at.starts_with(kBoxed)) return kBoxed.size();
  return fbox && at.starts_with(kFbox) ? kFbox.size() : 0;
}

std::size_t skip_spaces(std::string_view text, std::size_t i) {
  while (i < text.size() && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t')) ++i;
  return i;
}

// Where the next box command stands at or after `from`, or npos.
std::size_t next_command(std::string_view text, std::size_t from, bool fbox) {
  for (std::size_t i = text.find("box", from); i != std::string_view::npos;
       i = text.find("box", i + 3)) {
    for (const std::size_t back : {std::size_t{1}, std::size_t{2}})
      if (i >= from + back && text[i - back] == '\\' &&
          command_length(text.substr(i - back), fbox) > 0)
        return i - back;
  }
  return std::string_view::npos;
}

// Records a box that closes at `end`; the boxes inside it are part of its content.
void close_box(std::vector<Box>& boxes, std::string_view text, std::size_t begin, std::size_t brace,
               std::size_t end) {
  while (!boxes.empty() && boxes.back().begin > begin) boxes.pop_back();
  boxes.push_back({text.substr(brace + 1, end - brace - 1), begin, end + 1});
}

// Where the brace of a box command at `i` stands, or npos where none is there.
std::size_t box_brace(std::string_view text, std::size_t i, bool fbox) {
  const std::size_t length = command_length(text.substr(i), fbox);
  const std::size_t brace = length > 0 ? skip_spaces(text, i + length) : text.size();
  return brace < text.size() && text[brace] == '{' ? brace : std::string_view::npos;
}

// The last position that a backslash at `i` takes: it and the sign behind it, unless that begins a
// box, as in an escaped text with doubled backslashes.
std::size_t escaped(std::string_view text, std::size_t i, bool fbox) {
  const bool box =
      i + 1 < text.size() && text[i + 1] == '\\' && command_length(text.substr(i + 1), fbox) > 0;
  return box ? i : i + 1;
}

}  // namespace

std::string_view after_think(std::string_view text) {
  const std::size_t at = text.rfind(kThinkEnd);
  return at == std::string_view::npos ? text : text.substr(at + kThinkEnd.size());
}

std::vector<Box> all_boxes(std::string_view text, bool fbox) {
  struct Open {
    std::uint32_t command, brace;  // equal where the brace belongs to no box
  };
  std::vector<Open> open;
  std::vector<Box> boxes;
  text = text.substr(0, std::numeric_limits<std::uint32_t>::max());
  // One pass with a stack of open braces, so that unclosed boxes cost no more than closed ones.
  for (std::size_t i = next_command(text, 0, fbox); i < text.size(); ++i) {
    const auto here = static_cast<std::uint32_t>(i);
    if (text[i] == '\\') {
      const std::size_t brace = box_brace(text, i, fbox);
      if (brace != std::string_view::npos)
        open.push_back({here, static_cast<std::uint32_t>(brace)});
      i = brace != std::string_view::npos ? brace : escaped(text, i, fbox);
    } else if (text[i] == '{') {
      open.push_back({here, here});
    } else if (text[i] == '}' && !open.empty()) {
      if (open.back().command != open.back().brace)
        close_box(boxes, text, open.back().command, open.back().brace, i);
      open.pop_back();
    }
  }
  return boxes;
}

bool joins_boxes(std::string_view between) {
  constexpr std::array<std::string_view, 14> kWords = {
      "\\text{and}", "\\text{ and }", "\\text{or}", "\\text{ or }", "\\qquad", "\\quad", "\\text",
      "\\(",         "\\)",           "and",        "or",           "\\,",     "\\;",    "\\ "};
  while (!between.empty()) {
    if (std::string_view(" \t\n,;$").find(between.front()) != std::string_view::npos) {
      between.remove_prefix(1);
      continue;
    }
    const auto word =
        std::ranges::find_if(kWords, [&](std::string_view w) { return between.starts_with(w); });
    if (word == kWords.end()) return false;
    between.remove_prefix(word->size());
  }
  return true;
}

std::vector<Box> last_boxes(std::string_view text, bool fbox, bool join) {
  std::vector<Box> boxes = all_boxes(text, fbox);
  if (boxes.empty()) return boxes;
  std::size_t first = boxes.size() - 1;
  while (join && first > 0 &&
         joins_boxes(text.substr(boxes[first - 1].end, boxes[first].begin - boxes[first - 1].end)))
    --first;
  boxes.erase(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(first));
  return boxes;
}

}  // namespace lie::extract
