#include "verifier/extract/places.h"

#include <gtest/gtest.h>

#include <string>

namespace lie::extract {
namespace {

std::string last(std::string_view text, bool join = true) {
  std::string out;
  for (const Box& box : last_boxes(text, true, join))
    out.append(out.empty() ? "" : "|").append(box.content);
  return out;
}

TEST(Boxed, TakesTheLastBalancedBox) {
  EXPECT_EQ(last("\\boxed{3}. No wait, it is \\boxed{5}."), "5");
  EXPECT_EQ(last("\\boxed{\\frac{1}{2}} and so on"), "\\frac{1}{2}");
  EXPECT_EQ(last("so \\fbox {7}"), "7");
}

TEST(Boxed, AnUnclosedBoxDoesNotHideOthers) {
  EXPECT_EQ(last("\\boxed{1 and then \\boxed{2}"), "2");
  EXPECT_EQ(last("\\boxed{4} and \\boxed{5"), "4");
  EXPECT_EQ(last("\\boxed{5"), "");
}

TEST(Boxed, EscapedBracesAreContent) { EXPECT_EQ(last("\\boxed{\\{1,2\\}}"), "\\{1,2\\}"); }

TEST(Boxed, NestedBoxesAreOne) { EXPECT_EQ(last("\\boxed{\\boxed{5}}"), "\\boxed{5}"); }

TEST(Boxed, SeparatorsJoinBoxes) {
  EXPECT_EQ(last("\\boxed{1}, \\boxed{2} and $\\boxed{3}$"), "1|2|3");
  EXPECT_EQ(last("\\boxed{1} \\quad \\text{and} \\quad \\boxed{2}"), "1|2");
  EXPECT_EQ(last("\\boxed{1} papers and \\boxed{2} bins"), "2");
  EXPECT_EQ(last("\\boxed{1}, \\boxed{2}", false), "2");
}

TEST(Boxed, SearchesAfterTheThinkingTags) {
  EXPECT_EQ(after_think("<think>\\boxed{1}</think> \\boxed{2}"), " \\boxed{2}");
  EXPECT_EQ(after_think("no thoughts"), "no thoughts");
}

TEST(Boxed, TenMegabytesOfUnclosedBoxesAreOnePass) {
  std::string text;
  while (text.size() < 10'000'000) text += "\\boxed{";
  EXPECT_EQ(last(text), "");
}

}  // namespace
}  // namespace lie::extract
