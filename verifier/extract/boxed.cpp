#include "verifier/extract/boxed.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace lie::extract {
namespace {

constexpr std::string_view kThinkEnd = "</think>";
constexpr std::string_view kBoxed = "\\boxed";
constexpr std::string_view kFbox = "\\fbox";
constexpr std::size_t kFarthestJoined = 256;  // bytes between joined boxes
constexpr std::size_t kMostJoined = 1024;     // joined boxes

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

// Returns the length of the box command that starts at a backslash, or 0.
std::size_t command_length(std::string_view at, bool fbox) {
  if (at.starts_with(kBoxed)) return kBoxed.size();
  return fbox && at.starts_with(kFbox) ? kFbox.size() : 0;
}

std::size_t skip_spaces(std::string_view text, std::size_t i) {
  while (i < text.size() && is_blank(text[i])) ++i;
  return i;
}

// Returns whether the text between two boxes only separates the parts of one answer.
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

// Returns the position of the next box command at or after `from`, or npos.
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

// Records a box that closes at `end`, and drops the boxes inside it, which are part of its content.
void close_box(std::vector<Box>& boxes, std::string_view text, std::size_t begin, std::size_t brace,
               std::size_t end) {
  while (!boxes.empty() && boxes.back().begin > begin) boxes.pop_back();
  boxes.push_back({text.substr(brace + 1, end - brace - 1), begin, end + 1});
}

// Returns the position of the brace of a box command at `i`, or npos.
std::size_t box_brace(std::string_view text, std::size_t i, bool fbox) {
  const std::size_t length = command_length(text.substr(i), fbox);
  const std::size_t brace = length > 0 ? skip_spaces(text, i + length) : text.size();
  return brace < text.size() && text[brace] == '{' ? brace : std::string_view::npos;
}

// Returns the last position that a backslash at `i` covers. It covers the next sign, unless that
// begins a box, as in a text with doubled backslashes.
std::size_t escaped(std::string_view text, std::size_t i, bool fbox) {
  const bool box =
      i + 1 < text.size() && text[i + 1] == '\\' && command_length(text.substr(i + 1), fbox) > 0;
  return box ? i : i + 1;
}

// A stack of closing braces whose opening one is not yet found. It keeps the last million: no
// answer nests deeper, and memory stays bounded.
class Closes {
 public:
  bool empty() const { return depth_ == 0; }
  void push(std::size_t position) {
    if (depth_ < kMost && depth_ == kept_.size()) kept_.push_back(0);
    kept_[depth_++ % kMost] = static_cast<std::uint32_t>(position);
    forgotten_ = std::max(forgotten_, depth_ > kMost ? depth_ - kMost : 0);
  }
  // Returns nothing where the position was dropped.
  std::optional<std::size_t> pop() {
    --depth_;
    if (depth_ >= forgotten_) return kept_[depth_ % kMost];
    forgotten_ = depth_;
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;
  std::vector<std::uint32_t> kept_;
  std::size_t depth_ = 0, forgotten_ = 0;
};

// Finds boxes from the end of a text, so that the text before the answer is not read. Braces match
// in the same way from both ends.
class BackwardScan {
 public:
  // The scan stops once no box within `reach` bytes before the ones found can be added to them.
  BackwardScan(std::string_view text, bool fbox, std::size_t reach)
      : text_(text.substr(0, std::numeric_limits<std::uint32_t>::max())),
        fbox_(fbox),
        reach_(reach) {}

  // Returns the last outermost box and those before it that belong to it, from the last to the
  // first. A box that does not belong is dropped: what may still enclose a kept box encloses it as
  // well.
  std::vector<Box> run() {
    for (std::size_t i = text_.rfind('}') + 1; i-- > 0 && !done(i);) {
      if (text_[i] == '}' && !escaped_at(i))
        closes_.push(i);
      else if (text_[i] == '{' && !closes_.empty() && !escaped_at(i))
        open(i);
    }
    return std::move(boxes_);
  }

 private:
  bool done(std::size_t i) const {
    return closes_.empty() && !boxes_.empty() && boxes_.back().begin > i + reach_;
  }

  // Returns whether an odd number of backslashes precedes position i.
  bool escaped_at(std::size_t i) const {
    std::size_t first = i;
    while (first > 0 && text_[first - 1] == '\\') --first;
    return (i - first) % 2 == 1;
  }

  void open(std::size_t brace) {
    const std::optional<std::size_t> close = closes_.pop();
    const std::size_t begin = command_before(brace);
    if (begin == brace || !close) return;
    // Boxes inside it are part of its content.
    while (!boxes_.empty() && boxes_.back().begin < *close) boxes_.pop_back();
    const Box box{text_.substr(brace + 1, *close - brace - 1), begin, *close + 1};
    if (boxes_.empty() || (boxes_.size() < kMostJoined && belongs(box))) boxes_.push_back(box);
  }

  bool belongs(const Box& before) const {
    const std::size_t between = boxes_.back().begin - before.end;
    return between < reach_ && joins_boxes(text_.substr(before.end, between));
  }

  // Returns the position of the box command that a brace belongs to, or of the brace.
  std::size_t command_before(std::size_t brace) const {
    std::size_t end = brace;
    while (end > 0 && is_blank(text_[end - 1])) --end;
    const std::string_view before = text_.substr(0, end);
    if (before.ends_with(kBoxed)) return end - kBoxed.size();
    return fbox_ && before.ends_with(kFbox) ? end - kFbox.size() : brace;
  }

  std::string_view text_;
  bool fbox_;
  std::size_t reach_;
  Closes closes_;
  std::vector<Box> boxes_;
};

}  // namespace

std::string_view after_think(std::string_view text) {
  // memrchr() compares 32 bytes at a time, rfind() one.
  std::string_view rest = text;
  while (!rest.empty()) {
    const void* sign = ::memrchr(rest.data(), '>', rest.size());
    if (sign == nullptr) break;
    const auto end = static_cast<std::size_t>(static_cast<const char*>(sign) - text.data());
    if (text.substr(0, end + 1).ends_with(kThinkEnd)) return text.substr(end + 1);
    rest = text.substr(0, end);
  }
  return text;
}

std::vector<Box> all_boxes(std::string_view text, bool fbox) {
  struct Open {
    std::uint32_t command, brace;  // equal where the brace belongs to no box
  };
  std::vector<Open> open;
  std::vector<Box> boxes;
  text = text.substr(0, std::numeric_limits<std::uint32_t>::max());
  // A single pass with a stack of open braces makes unclosed boxes as cheap as closed ones.
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

std::vector<Box> last_boxes(std::string_view text, bool fbox, bool join) {
  std::vector<Box> boxes = BackwardScan(text, fbox, join ? kFarthestJoined : 0).run();
  std::ranges::reverse(boxes);
  return boxes;
}

}  // namespace lie::extract
