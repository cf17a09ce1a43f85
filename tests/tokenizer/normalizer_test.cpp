#include "model/tokenizer/normalizer.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

class Nfc : public testing::Test {
 protected:
  std::string nfc(std::string_view text) const { return to_nfc(text, table_); }
  UnicodeTable table_;
};

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST_F(Nfc, ComposesAndOrdersMarks) {
  EXPECT_EQ(nfc("e\u0301"), "\u00e9");
  EXPECT_EQ(nfc("xq\u0307\u0323y"), "xq\u0323\u0307y");
  EXPECT_EQ(nfc("\u1100\u1161\u11a8"), "\uac01");
  EXPECT_EQ(nfc("a\u0327\u0301 b"), "\u00e1\u0327 b");
  EXPECT_EQ(nfc("\u212b\u0958"), "\u00c5\u0915\u093c");
}

TEST_F(Nfc, DoesNotChangeNormalizedText) {
  for (const std::string text : {"", "plain", "\u00e9\u4e2d\uac01\U0001f600", "q\u0323\u0307"})
    EXPECT_EQ(nfc(text), text);
  EXPECT_TRUE(is_nfc("\u00e9\u4e2d\uac01\U0001f600", table_));
  EXPECT_FALSE(is_nfc("e\u0301", table_));
}

TEST_F(Nfc, MarksUnknownToTheLibraryStayInPlace) {
  // U+0898 is combining since Unicode 14, but an ordinary character in the library's Unicode 9.
  EXPECT_EQ(nfc("a\u0898\u0301\u0323"), "a\u0898\u0323\u0301");
  EXPECT_EQ(nfc("a\u0301\u0898"), "\u00e1\u0898");
}

TEST_F(Nfc, SortsAMillionMarksOnOneLetter) {
  constexpr int kMarks = 500'000;
  EXPECT_EQ(nfc("x" + repeated("\u0301\u0323", kMarks)),
            "x" + repeated("\u0323", kMarks) + repeated("\u0301", kMarks));
}

}  // namespace
}  // namespace lie
