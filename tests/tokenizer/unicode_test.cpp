#include "model/tokenizer/unicode.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

constexpr const char* kReplaced = "\xef\xbf\xbd";

std::string repeated(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += kReplaced;
  return out;
}

TEST(Utf8, DoesNotChangeValidText) {
  for (const std::string text : {"", "abc", "h\u00e9llo \u4e2d\u6587 \U0001f600",
                                 "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"}) {
    EXPECT_TRUE(is_valid_utf8(text));
    EXPECT_EQ(repair_utf8(text), text);
  }
}

TEST(Utf8, ReplacesEachMaximalInvalidSubpartOnce) {
  // The examples of the Unicode standard, tables 3-8 to 3-11.
  EXPECT_EQ(repair_utf8("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"), repeated(8) + "A");
  EXPECT_EQ(repair_utf8("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"), repeated(8) + "A");
  EXPECT_EQ(repair_utf8("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"),
            repeated(5) + "A" + repeated(2) + "B");
  EXPECT_EQ(repair_utf8("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), repeated(4) + "A");
  for (const char* invalid : {"\xc3", "a\xe4\xb8", "12345678\xf0\x9f\x98", "\x80"})
    EXPECT_FALSE(is_valid_utf8(invalid));
}

TEST(Utf8, StepsThroughCodePoints) {
  const std::string text = "a\u00e9\u4e2d\U0001f600";
  EXPECT_EQ(utf8_decode(text, 0), 0x61u);
  EXPECT_EQ(utf8_decode(text, 1), 0xe9u);
  EXPECT_EQ(utf8_decode(text, 3), 0x4e2du);
  EXPECT_EQ(utf8_decode(text, 6), 0x1f600u);
  EXPECT_EQ(utf8_previous(text, 10), 6u);
  EXPECT_EQ(utf8_previous(text, 6), 3u);
}

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
