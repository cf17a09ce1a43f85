#include "common/text/scan.h"

#include <gtest/gtest.h>

#include <cctype>

namespace lie {
namespace {

TEST(Scan, ClassesMatchTheCLocaleAndExcludeNonAsciiBytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool ascii = byte < 128;
    const char c = static_cast<char>(byte);
    EXPECT_EQ(is_digit(c), ascii && std::isdigit(byte) != 0) << byte;
    EXPECT_EQ(is_letter(c), ascii && std::isalpha(byte) != 0) << byte;
    EXPECT_EQ(is_letter_or_digit(c), ascii && std::isalnum(byte) != 0) << byte;
    EXPECT_EQ(is_space(c), ascii && std::isspace(byte) != 0) << byte;
    EXPECT_EQ(to_lower(c), ascii ? static_cast<char>(std::tolower(byte)) : c) << byte;
    EXPECT_EQ(to_upper(c), ascii ? static_cast<char>(std::toupper(byte)) : c) << byte;
  }
}

TEST(Scan, TrimsOuterSpacesOnly) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Scan, RemovesAPrefixOnlyFromTheStart) {
  std::string_view text = "\\frac12";
  EXPECT_FALSE(take(text, "frac"));
  EXPECT_EQ(text, "\\frac12");
  EXPECT_TRUE(take(text, "\\frac"));
  EXPECT_EQ(text, "12");
}

}  // namespace
}  // namespace lie
