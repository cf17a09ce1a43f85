#include "verifier/extract/places.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/text/scan.h"

namespace lie::extract {
namespace {

constexpr std::string_view kThinkEnd = "</think>";
constexpr std::string_view kBoxed = "\\boxed";
constexpr std::string_view kFbox = "\\fbox";
constexpr std::size_t kFarthestJoined = 256;              // bytes between joined boxes
constexpr std::size_t kMostJoinedBoxes = 1024;            // joined boxes
constexpr std::size_t kWholeText = std::size_t{1} << 40;  // a reach that joins all boxes

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

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

// Finds boxes from the end of a text, so that the text before the answer is not read. Braces match
// in the same way from both ends.
class BackwardScan {
 public:
  // The scan stops once no box within `reach` bytes before the ones found can be added to them.
  BackwardScan(std::string_view text, bool fbox, std::size_t reach)
      : text_(text.substr(0, std::numeric_limits<std::uint32_t>::max())),
        fbox_(fbox),
        reach_(reach) {}

  // Returns the last outermost box and those before it that belong to it. A box that does not
  // belong is dropped: what may still enclose a kept box encloses it as well.
  std::vector<Box> run() {
    for (std::size_t i = text_.rfind('}') + 1; i-- > 0 && !done(i);) {
      if (text_[i] == '}' && !escaped_at(i))
        closes_.push_back(static_cast<std::uint32_t>(i));
      else if (text_[i] == '{' && !closes_.empty() && !escaped_at(i))
        open(i);
    }
    std::ranges::reverse(boxes_);
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
    const std::size_t close = closes_.back();
    closes_.pop_back();
    const std::size_t begin = command_before(brace);
    if (begin == brace) return;
    // Boxes inside it are part of its content.
    while (!boxes_.empty() && boxes_.back().begin < close) boxes_.pop_back();
    const Box box{text_.substr(brace + 1, close - brace - 1), begin, close + 1};
    if (boxes_.empty() || (boxes_.size() < kMostJoinedBoxes && belongs(box))) boxes_.push_back(box);
  }

  bool belongs(const Box& before) const {
    if (reach_ == kWholeText) return true;
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
  std::vector<std::uint32_t> closes_;  // closing braces without their opening ones
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

std::string joined(const std::vector<Box>& boxes) {
  std::string out;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (i == 0 || boxes[i].content != boxes[i - 1].content)
      out.append(i == 0 ? "" : ", ").append(trimmed(boxes[i].content));
  return out;
}

std::vector<Box> all_boxes(std::string_view text, bool fbox) {
  if (text.find('\\') == std::string_view::npos) return {};
  return BackwardScan(text, fbox, kWholeText).run();
}

std::vector<Box> last_boxes(std::string_view text, bool fbox, bool join) {
  return BackwardScan(text, fbox, join ? kFarthestJoined : 0).run();
}

}  // namespace lie::extract
