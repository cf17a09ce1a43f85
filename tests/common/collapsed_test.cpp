#include "common/text/collapsed.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

TEST(Collapsed, WhiteSpaceIsOneSpace) {
  EXPECT_EQ(collapsed(" \ta \r\n b\n"), "a b");
  EXPECT_EQ(collapsed("a\u00a0\u2003 \u3000b\u202f"), "a b");
  EXPECT_EQ(collapsed("\u2028"), "");
  EXPECT_EQ(collapsed(""), "");
}

TEST(Collapsed, InvisibleCharactersAreRemoved) {
  EXPECT_EQ(collapsed("\ufeffa\u200bb\u00ad\u2060"), "ab");
  EXPECT_EQ(collapsed("a \u200d b"), "a b");
}

TEST(Collapsed, OtherCharactersStay) {
  const char* text = "x² ≠ ½ \U0001d465 é";
  EXPECT_EQ(collapsed(text), text);
  EXPECT_EQ(collapsed("a\u2010b\u00a1\u2070\u2001"), "a\u2010b\u00a1\u2070");
  EXPECT_EQ(collapsed("\xe2\x80"), "\xe2\x80") << "an incomplete character";
  EXPECT_EQ(collapsed("a\xff b"), "a\xff b");
}

}  // namespace
}  // namespace lie
