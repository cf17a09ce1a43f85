// Tests answers that are no formulas: literals of other bases, dates, ranges, times and codes. They
// are compared as what they are, so that no two of them are equal by arithmetic.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/verifier/expect_answer.h"

namespace lie::forms {
namespace {

using verifier_test::expect_different, verifier_test::expect_equal;

TEST(Forms, LiteralsOfOtherBasesAreNumbers) {
  expect_equal("0x1F", "31");
  expect_equal("0x1F", "0x1f");
  expect_equal("\\text{0x1F}", "31");
  expect_equal("\\mathtt{0xFF}", "255");
  expect_equal("-0x10", "-16");
  expect_equal("0b1010", "10");
  expect_equal("0o17", "15");
  expect_equal("0x1F, 0x2A", "42, 31");
  expect_equal("1F_{16}", "0x1F");
  expect_equal("0x + 3", "3");
  expect_equal("0xFF", "FF");
  expect_equal("0xFF", "FF_{16}");
  expect_equal("0x1F", "1F");
  expect_equal("0b1010", "1010_2");
  expect_equal("0xFF", "11111111_2");
  expect_different("0b101", "101");
  expect_different("0xFF", "FE");
  expect_different("0x1F", "0x2A");
  expect_different("0xDEAD", "0xBEEF");
  expect_different("0", "0x1F");
  expect_different("0b10", "0b11");
  expect_different("0b12", "0b13");
  expect_different("0o17", "0o16");
  expect_different("0xFG", "0xFH");
}

TEST(Forms, UnderscoresAndNumberSignsDoNotChangeANumber) {
  expect_equal("1_000_000", "1000000");
  expect_equal("12_345", "12,345");
  expect_equal("#5", "5");
  expect_equal("#FF0000", "FF0000");
  expect_equal("\\#FF0000", "#ff0000");
  expect_different("1_000_000", "1000");
  expect_different("1_000", "1_001");
  expect_different("#FF0000", "#00FF00");
  expect_different("n\\#", "n");
}

TEST(Forms, DatesAreEqualOnlyAsDates) {
  for (const char* same :
       {"2021-06-01", "\\text{2021-06-01}", "2021/06/01", "2021/6/1", "June 1, 2021",
        "\\text{June 1, 2021}", "1 June 2021", "\\text{June 1st, 2021}", "2021年6月1日"})
    expect_equal("2021-06-01", same);
  expect_equal("June 13", "13 June");
  expect_equal("13/06/2021", "2021-06-13");
  expect_equal("06/01/2021", "6/1/2021");
  expect_equal("2021-06-01, 2021-07-02", "2021-06-01, 2021-07-02");
  expect_different("2021-06-01", "2021-01-06");
  expect_different("\\text{2021-06-01}", "\\text{2014}");
  expect_different("2014", "2021-06-01");
  expect_different("1999-01-02", "1998-01-01");
  expect_different("06/01/2021", "12/02/2021");
  expect_different("06/01/2021", "2021-06-01");
  expect_different("2021/06/01", "2021/03/02");
  expect_different("June 1, 2021", "June 2, 2021");
  expect_different("\\text{June 1, 2021}", "\\text{July 1, 2021}");
  expect_different("2021-06-01, 2021-07-02", "2021-06-02, 2021-07-01");
}

TEST(Forms, RangesAndScoresAreNoDifferences) {
  expect_equal("3-5", "3-5");
  expect_equal("3-5", "3 - 5");
  expect_equal("10–20", "10-20");
  expect_equal("10–20", "10--20");
  expect_equal("10–20\\text{ cm}", "10-20\\text{ cm}");
  expect_equal("10-20 \\text{ cm}", "10-20");
  expect_equal("\\text{2-1}", "2-1");
  expect_equal("2", "5-3");
  expect_equal("5", "10-3-2");
  expect_equal("-1", "(1-2)");
  expect_equal("x = 2", "x = 5-3");
  expect_equal("10-20", "10 to 20");
  expect_equal("10–20", "10\\text{ to }20");
  expect_equal("1990-95", "1990-1995");
  expect_equal("10\\text{ to }20\\text{ cm}", "10-20\\text{ cm}");
  expect_equal("\\$10-\\$20", "\\$10-20");
  expect_equal("6\\text{ cm}", "10\\text{ cm} - 4\\text{ cm}");
  expect_equal("9am-5pm", "9:00 a.m. - 5:00 p.m.");
  expect_different("10 to 20", "20 to 30");
  expect_different("\\$10-\\$20", "\\$20-\\$30");
  expect_different("€10-€20", "€20-€30");
  expect_different("100-200 m", "200-300 m");
  expect_different("10 cm - 20 cm", "20 cm - 30 cm");
  expect_different("10\\text{ cm} - 20\\text{ cm}", "20\\text{ cm} - 30\\text{ cm}");
  expect_different("9am-5pm", "8am-4pm");
  expect_different("9:00-17:00", "8:00-16:00");
  expect_different("9\\text{ am} - 5\\text{ pm}", "8\\text{ am} - 4\\text{ pm}");
  expect_different("1990-1995", "1985-1990");
  expect_different("10–20", "20–30");
  expect_different("10–20", "-10");
  expect_different("3-1", "2-0");
  expect_different("\\text{2-1}", "\\text{1}");
  expect_different("1.5-2.5", "2.5-3.5");
  expect_different("10\\%-20\\%", "20\\%-30\\%");
  expect_different("3-1, 2-0", "2-0, 4-2");
  expect_different("10–20\\text{ cm}", "20–30\\text{ cm}");
  expect_different("10–20\\text{ cm}", "10-20\\text{ m}");
}

TEST(Forms, NumbersOfTelephonesAreNoDifferences) {
  expect_equal("555-123-4567", "(555) 123-4567");
  expect_different("555-1234", "556-1235");
  expect_different("555-123-4567", "556-124-4567");
  expect_different("(555) 123-4567", "(555) 124-4568");
  expect_different("1/2/3", "2/4/3");
}

TEST(Forms, WordsOfDigitsAndCapitalsAreCodes) {
  expect_equal("FF0000", "FF0000");
  expect_equal("FF0000", "\\text{FF0000}");
  expect_equal("B0", "B_0");
  expect_equal("B0, C0", "C0, B0");
  expect_equal("2A", "2 \\cdot A");
  expect_equal("3AB", "3BA");
  expect_equal("2x", "x \\cdot 2");
  expect_equal("BCA", "\\text{BCA}");
  expect_equal("BCA", "B C A");
  expect_equal("\\frac{BCA}{2}", "\\frac{ABC}{2}");
  expect_equal("V = BCA", "V = ABC");
  expect_equal("2BCA", "2ABC");
  expect_equal("BCA", "B, C, A");
  expect_equal("T, T, F", "TTF");
  expect_equal("ACD", "A, C, D");
  expect_equal("abc", "cba");
  expect_different("BCA", "CAB");
  expect_different("TTF", "FTT");
  expect_different("ATG", "GTA");
  expect_different("BCA", "B, A, C");
  expect_different("SW1A 1AA", "1AA SW1A");
  expect_different("FF0000", "00FF00");
  expect_different("B0", "C0");
  expect_different("0A", "0B");
  expect_different("BEEF0", "CAFE0");
  expect_different("0", "B0");
  expect_different("A", "1A");
  expect_different("A1", "A");
  expect_different("A12", "A21");
  expect_different("H2O", "HO2");
  expect_different("\\text{B0}", "\\text{C0}");
  expect_different("ff0000", "00ff00");
  expect_different("B0, C0", "D0, E0");
}

TEST(Forms, RomanNumeralsAreNoProducts) {
  expect_equal("IV", "IV");
  expect_equal("IV", "\\text{IV}");
  expect_equal("\\text{XIV}", "XIV");
  expect_equal("\\text{I and III}", "I, III");
  expect_equal("III", "iii");
  expect_equal("VI", "vi");
  expect_equal("xiv", "XIV");
  expect_equal("iv", "i v");
  expect_equal("Ⅳ", "ⅳ");
  expect_equal("CD", "DC");
  expect_different("IV", "VI");
  expect_different("XL", "LX");
  expect_different("IX", "XI");
  expect_different("MCMXC", "MMXCC");
  expect_different("iv", "vi");
  expect_different("-1", "ii");
  expect_different("II, IV", "II, VI");
}

TEST(Forms, TimesOfDayHaveTwelveOrTwentyFourHours) {
  expect_equal("3:05\\text{ p.m.}", "15:05");
  expect_equal("11:59\\text{ PM}", "23:59");
  expect_equal("7:00\\text{ a.m.}", "7\\text{ a.m.}");
  expect_equal("3:05 p.m.", "3:05 pm");
  expect_equal("3:05 p.m.", "3:05PM");
  expect_equal("12:30\\text{ a.m.}", "00:30");
  expect_equal("12:00\\text{ p.m.}", "\\text{noon}");
  expect_equal("\\text{midnight}", "12\\text{ a.m.}");
  expect_equal("8:34\\text{ p.m.}", "8:34");
  expect_equal("8:34", "8:34\\text{ p.m.}");
  expect_equal("20:34:00", "20:34");
  expect_equal("08:30", "8:30");
  expect_equal("下午3:05", "15:05");
  expect_equal("2\\text{ h }30\\text{ min}", "150\\text{ min}");
  expect_different("上午3:05", "下午3:05");
  expect_different("5\\text{ pm}", "5\\text{ nm}");
  expect_different("3:05\\text{ p.m.}", "3:05\\text{ a.m.}");
  expect_different("3:05\\text{ p.m.}", "3:06\\text{ p.m.}");
  expect_different("12:30\\text{ a.m.}", "12:30\\text{ p.m.}");
  expect_different("15:05", "3:05\\text{ a.m.}");
  expect_different("08:30", "4:15");
  expect_different("8:05", "16:10");
  expect_equal("2am", "2ma");
}

TEST(Forms, OrdinalsAreTheirNumbers) {
  for (const char* ordinal :
       {"5th", "5^{th}", "5^th", "\\text{5th}", "5^{\\text{th}}", "5\\text{th}"}) {
    expect_equal("5", ordinal);
    expect_equal(ordinal, "5");
    expect_different("6th", ordinal);
  }
  for (const char* ordinal : {"\\text{the 5th}", "\\text{5-th}", "\\text{fifth}", "fifth",
                              "\\text{5th term}", "the fifth"})
    expect_equal("5", ordinal);
  expect_equal("21", "\\text{twenty-first}");
  expect_equal("\\frac23", "\\text{two thirds}");
  expect_different("\\text{first}", "2");
  expect_different("\\text{1st place}", "\\text{2nd place}");
  expect_different("\\text{the first player}", "\\text{the second player}");
  expect_equal("2nd", "2");
  expect_equal("3", "\\text{3rd}");
  expect_equal("21", "21st");
  expect_equal("15th Day", "15");
  expect_different("2nd", "3rd");
  expect_equal("5t", "5 \\cdot t");
}

TEST(Forms, AlignedEquationsAreRead) {
  for (const char* name : {"aligned", "align*", "align", "split", "gathered", "alignat*"}) {
    const std::string columns = std::string(name).starts_with("alignat") ? "{2}" : "";
    const auto in = [&](std::string_view rows) {
      return fmt::format("\\begin{{{}}}{}{}\\end{{{}}}", name, columns, rows, name);
    };
    expect_equal("5", in("x&=5"));
    expect_equal("5", in("x=&5."));
    expect_equal("5", in("x&=2+3\\\\&=5"));
    expect_equal("x=1, y=2", in("x&=1\\\\y&=2"));
    expect_different("5", in("x&=6"));
  }
  expect_equal("\\begin{cases}x & x > 0\\\\-x & x < 0\\end{cases}",
               "\\begin{cases}x & x > 0\\\\-x & x < 0\\end{cases}");
}

TEST(Forms, CommandsOfSiunitxAreRead) {
  expect_equal("5", "\\num{5}");
  expect_equal("1000", "\\num{1e3}");
  expect_equal("5 m", "\\SI{5}{m}");
  expect_equal("5 m", "\\qty{5}{\\meter}");
  expect_equal("5 m", "\\qty[mode=text]{5}{\\metre}");
  expect_equal("36 \\text{ km/h}", "\\SI{10}{\\meter\\per\\second}");
  expect_equal("5 \\text{ kg/m}^3", "\\qty{5}{\\kilo\\gram\\per\\cubic\\meter}");
  expect_equal("5 \\text{ m/s}^2", "\\SI{5}{\\metre\\per\\second\\squared}");
  expect_equal("5 \\text{ m/s}", "\\qty{5}{m.s^{-1}}");
  expect_equal("5 \\mu m", "\\SI{5}{\\micro\\meter}");
  expect_equal("5 k\\Omega", "\\qty{5000}{\\ohm}");
  expect_equal("5 \\text{ kWh}", "\\qty{5}{\\kilo\\watt\\hour}");
  expect_different("5 \\text{ m s}", "\\qty{5}{m.s^{-1}}");
  expect_equal("50\\%", "\\SI{50}{\\percent}");
  expect_equal("90", "\\ang{90}");
  expect_equal("30.5^\\circ", "\\ang{30;30}");
  expect_equal("\\nu", "\\nu");
  expect_equal("1/2", "\\sfrac{1}{2}");
  expect_different("5 km", "\\SI{5}{m}");
  expect_different("5 m", "\\qty{6}{\\meter}");
}

TEST(Forms, SubscriptsAndExponentsOfOneCharacterAreGroups) {
  expect_equal("x_{12}", "x₁₂");
  expect_equal("a_{10}+a_{11}", "a₁₀+a₁₁");
  expect_equal("x_{n+1}", "xₙ₊₁");
  expect_equal("x^{n+1}", "xⁿ⁺¹");
  expect_equal("Ca^{2+}", "Ca²⁺");
  expect_equal("10^{-12}", "10⁻¹²");
  expect_different("x_{12}", "x₂₁");
  expect_different("x_{12}", "x_1 2");
}

TEST(Forms, TextsDamagedByEscapesAreRead) {
  expect_equal(
      "1+\f"
      "rac{1}{2}",
      "\\frac32");
  expect_equal(
      "60^\t"
      "extcirc 42'",
      "60^\\circ 42'");
  expect_equal(
      "2\t"
      "imes 3",
      "6");
  expect_equal("3<sup>x</sup>", "3^x");
}

}  // namespace
}  // namespace lie::forms
