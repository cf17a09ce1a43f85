#include "verifier/latex/characters.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "common/text/wide_character.h"

namespace lie::latex {
namespace {

/// A character from the front of a text, and its length in bytes. Bytes that are no UTF-8 have the
/// value 0.
struct Character {
  char32_t value = 0;
  std::size_t length = 1;
};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (length == 1 || text.size() < length) return {};
  auto value = static_cast<char32_t>(lead & (0xff >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    value = (value << 6) | (byte & 0x3f);
  }
  return {value, length};
}

void append(std::string& out, char32_t c) {
  const auto byte = [&](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) {
    byte(0xc0 | (c >> 6));
  } else if (c < 0x10000) {
    byte(0xe0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3f));
  } else {
    byte(0xf0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3f));
    byte(0x80 | ((c >> 6) & 0x3f));
  }
  byte(0x80 | (c & 0x3f));
}

// Format characters (category Cf), the selectors of variants, and the frame of a key cap.
bool is_ignored(char32_t c) {
  constexpr char32_t kFrame = 0x20e3;
  constexpr CharacterRange kTags = {0xe0001, 0xe007f};
  return is_invisible(c) || c == kFrame || kTags.holds(c);
}

// Returns the value of a decimal digit of another script.
std::optional<char32_t> digit_of(char32_t c) {
  constexpr char32_t kZeros[] = {0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6,  0xb66,  0xbe6,
                                 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810};
  for (const char32_t zero : kZeros)
    if (c >= zero && c <= zero + 9) return c - zero;
  return std::nullopt;
}

// Characters that mean the same as others, one by one.
constexpr std::u32string_view kSigns =
    U"\u066b\u066c\u066a\u2010\u2011\u2012\u2043\u2212\ufe63\uff0d\ufe62\u2795\u2796\u2715\u2716"
    U"\u2a2f"
    U"\u2797\ufe64\ufe65\ufe66\u2217\u2236\ufe6a\u210e\u212f\u2147\u2148\u212a\u212b\u2126\u2215";
constexpr std::u32string_view kMeanings =
    U".,%-------+"
    U"+-\u00d7\u00d7\u00d7"
    U"\u00f7<>=*:%heeiK\u00c5\u03a9/";
static_assert(kSigns.size() == kMeanings.size());

/// A character that stands for several.
struct Spelling {
  char32_t character;
  std::string_view text;
};
constexpr auto kSpellings = std::to_array<Spelling>(
    {{0xfb00, "ff"},   {0xfb01, "fi"},       {0xfb02, "fl"},   {0xfb03, "ffi"},  {0xfb04, "ffl"},
     {0x2103, "°C"},   {0x2109, "°F"},       {0x338e, "mg"},   {0x338f, "kg"},   {0x3396, "ml"},
     {0x339c, "mm"},   {0x339d, "cm"},       {0x339e, "km"},   {0x33a0, "cm^2"}, {0x33a1, "m^2"},
     {0x33a2, "km^2"}, {0x33a4, "cm^3"},     {0x33a5, "m^3"},  {0x33a7, "m/s"},  {0x33a8, "m/s^2"},
     {0x2160, "I"},    {0x2161, "II"},       {0x2162, "III"},  {0x2163, "IV"},   {0x2164, "V"},
     {0x2165, "VI"},   {0x2166, "VII"},      {0x2167, "VIII"}, {0x2168, "IX"},   {0x2169, "X"},
     {0x216a, "XI"},   {0x216b, "XII"},      {0x216c, "L"},    {0x216d, "C"},    {0x216e, "D"},
     {0x216f, "M"},    {0x2170, "i"},        {0x2171, "ii"},   {0x2172, "iii"},  {0x2173, "iv"},
     {0x2174, "v"},    {0x2175, "vi"},       {0x2176, "vii"},  {0x2177, "viii"}, {0x2178, "ix"},
     {0x2179, "x"},    {0x221c, "\\sqrt[4]"}});

// Appends the number in ⑴ to ⒇ and ⒈ to ⒛. Returns false for other characters.
bool append_listed_number(std::string& out, char32_t c) {
  constexpr CharacterRange kBracketed = {0x2474, 0x2487}, kPointed = {0x2488, 0x249b};
  if (!kBracketed.holds(c) && !kPointed.holds(c)) return false;
  out += std::to_string(c - (kBracketed.holds(c) ? kBracketed : kPointed).first + 1);
  return true;
}

// Appends a letter or digit of the mathematical alphabets. Returns false for other characters.
// Bold capitals and double-struck letters keep their alphabet.
bool append_mathematical(std::string& out, char32_t c) {
  constexpr char32_t kLatin = 0x1d400, kGreek = 0x1d6a8, kDigits = 0x1d7ce, kEnd = 0x1d800;
  constexpr char32_t kBold = 0, kDoubleStruck = 6;
  if (c < kLatin || c >= kEnd) return false;
  if (c >= kDigits) return append(out, '0' + (c - kDigits) % 10), true;
  if (c < kGreek - 4) {
    const char32_t alphabet = (c - kLatin) / 52, letter = (c - kLatin) % 52;
    const char32_t plain = letter < 26 ? 'A' + letter : 'a' + letter - 26;
    const bool marked = alphabet == kDoubleStruck || (alphabet == kBold && letter < 26);
    if (marked) out += alphabet == kBold ? "\\mathbf{" : "\\mathbb{";
    append(out, plain);
    if (marked) out.push_back('}');
    return true;
  }
  if (c < kGreek) return false;
  constexpr std::u32string_view kOthers = U"\u2202\u03b5\u03b8\u03ba\u03c6\u03c1\u03c0";
  const char32_t letter = (c - kGreek) % 58;
  if (letter == 25) return false;  // nabla
  if (letter < 25) return append(out, 0x391 + letter), true;
  return append(out, letter < 51 ? 0x3b1 + letter - 26 : kOthers[letter - 51]), true;
}

/// A combining mark with letters, and the characters that are both.
struct Mark {
  char32_t mark;
  std::u32string_view letters, composed;
};
constexpr auto kMarks = std::to_array<Mark>({
    {U'\u0300', U"AEIOUaeiouÜüNnĒēŌōWwÂâĂăÊêÔôƠơƯưYyЕИеи",
     U"ÀÈÌÒÙàèìòùǛǜǸǹḔḕṐṑẀẁẦầẰằỀềỒồỜờỪừỲỳЀЍѐѝ"},
    {U'\u0301',
     U"AEIOUYaeiouyCcLlNnRrSsZzÜüGgÅåÆæØøÇçĒēÏï"
     U"KkMmÕõŌōPpŨũWwÂâĂăÊêÔôƠơƯưΑΕΗΙΟΥΩϊαεηιϋο"
     U"υωГКгк",
     U"ÁÉÍÓÚÝáéíóúýĆćĹĺŃńŔŕŚśŹźǗǘǴǵǺǻǼǽǾǿḈḉḖḗḮḯ"
     U"ḰḱḾḿṌṍṒṓṔṕṸṹẂẃẤấẮắẾếỐốỚớỨứΆΈΉΊΌΎΏΐάέήίΰό"
     U"ύώЃЌѓќ"},
    {U'\u0302', U"AEIOUaeiouCcGgHhJjSsWwYyZzẠạẸẹỌọ", U"ÂÊÎÔÛâêîôûĈĉĜĝĤĥĴĵŜŝŴŵŶŷẐẑẬậỆệỘộ"},
    {U'\u0303', U"ANOanoIiUuVvÂâĂăEeÊêÔôƠơƯưYy", U"ÃÑÕãñõĨĩŨũṼṽẪẫẴẵẼẽỄễỖỗỠỡỮữỸỹ"},
    {U'\u0304', U"AaEeIiOoUuÜüÄäȦȧÆæǪǫGgḶḷṚṛ", U"ĀāĒēĪīŌōŪūǕǖǞǟǠǡǢǣǬǭḠḡḸḹṜṝ"},
    {U'\u0306', U"AaEeGgIiOoUuȨȩẠạУИиу", U"ĂăĔĕĞğĬĭŎŏŬŭḜḝẶặЎЙйў"},
    {U'\u0307',
     U"CcEeGgIZzBbDdFfHhMmNnPpRrSsŚśŠšṢṣTtWwXxY"
     U"yſ",
     U"ĊċĖėĠġİŻżḂḃḊḋḞḟḢḣṀṁṄṅṖṗṘṙṠṡṤṥṦṧṨṩṪṫẆẇẊẋẎ"
     U"ẏẛ"},
    {U'\u0308', U"AEIOUaeiouyYHhÕõŪūWwXxtΙΥιυЕІеі", U"ÄËÏÖÜäëïöüÿŸḦḧṎṏṺṻẄẅẌẍẗΪΫϊϋЁЇёї"},
    {U'\u0309', U"AaÂâĂăEeÊêIiOoÔôƠơUuƯưYy", U"ẢảẨẩẲẳẺẻỂểỈỉỎỏỔổỞởỦủỬửỶỷ"},
    {U'\u030a', U"AaUuwy", U"ÅåŮůẘẙ"},
    {U'\u030b', U"OoUu", U"ŐőŰű"},
    {U'\u030c', U"CcDdEeLlNnRrSsTtZzAaIiOoUuÜüGgKkƷʒjHh", U"ČčĎďĚěĽľŇňŘřŠšŤťŽžǍǎǏǐǑǒǓǔǙǚǦǧǨǩǮǯǰȞȟ"},
    {U'\u0323',
     U"BbDdHhKkLlMmNnRrSsTtVvWwZzAaEeIiOoƠơUuƯư"
     U"Yy",
     U"ḄḅḌḍḤḥḲḳḶḷṂṃṆṇṚṛṢṣṬṭṾṿẈẉẒẓẠạẸẹỊịỌọỢợỤụỰự"
     U"Ỵỵ"},
    {U'\u0327', U"CcGgKkLlNnRrSsTtDdHh", U"ÇçĢģĶķĻļŅņŖŗŞşŢţḐḑḨḩ"},
    {U'\u0328', U"AaEeIiUuOo", U"ĄąĘęĮįŲųǪǫ"},
    {U'\u3099',
     U"かきくけこさしすせそたちつてとはひふへほうゝカキクケコサシスセソタチツテトハヒフ"
     U"ヘホウワヰヱヲヽ",
     U"がぎぐげござじずぜぞだぢづでどばびぶべぼゔゞガギグゲゴザジズゼゾダヂヅデドバビブ"
     U"ベボヴヷヸヹヺヾ"},
    {U'\u309a', U"はひふへほハヒフヘホ", U"ぱぴぷぺぽパピプペポ"},
});
static_assert(std::ranges::all_of(kMarks, [](const Mark& mark) {
  return mark.letters.size() == mark.composed.size();
}));

// Returns the character that is a letter with a mark, or 0.
char32_t composed(char32_t letter, char32_t mark) {
  constexpr CharacterRange kLeads = {0x1100, 0x1112}, kVowels = {0x1161, 0x1175},
                           kTails = {0x11a8, 0x11c2};
  constexpr CharacterRange kSyllables = {0xac00, 0xd7a3};
  if (kLeads.holds(letter) && kVowels.holds(mark))
    return 0xac00 + ((letter - kLeads.first) * 21 + mark - kVowels.first) * 28;
  if (kSyllables.holds(letter) && (letter - 0xac00) % 28 == 0 && kTails.holds(mark))
    return letter + mark - 0x11a7;
  const auto* entry = std::ranges::find(kMarks, mark, &Mark::mark);
  if (entry == kMarks.end()) return 0;
  const std::size_t at = entry->letters.find(letter);
  return at == std::u32string_view::npos ? 0 : entry->composed[at];
}

// Returns the combining mark of an accent of LaTeX, such as the one of \"o, or 0.
char32_t accent_of(std::string_view text) {
  constexpr std::string_view kAccents = "\"'`^~";
  constexpr std::u32string_view kCombining = U"\u0308\u0301\u0300\u0302\u0303";
  if (text.size() < 3 || text[0] != '\\') return 0;
  const std::size_t at = kAccents.find(text[1]);
  return at == std::string_view::npos ? 0 : kCombining[at];
}

// Returns the length of \"o or \"{o} at the front of a text after its letter is appended, or 0.
std::size_t append_accented(std::string& out, std::string_view text) {
  const char32_t mark = accent_of(text);
  if (mark == 0) return 0;
  const std::size_t braced = text[2] == '{' ? 1 : 0;
  if (text.size() < 3 + 2 * braced || (braced == 1 && text[4] != '}')) return 0;
  const char32_t both = composed(static_cast<unsigned char>(text[2 + braced]), mark);
  if (both == 0) return 0;
  append(out, both);
  return 3 + 2 * braced;
}

// Returns the full-width form of an ASCII character as ASCII, or 0. Marks that end a sentence are
// no operators.
char32_t half_width(char32_t c) {
  if (c <= 0xff00 || c > 0xff5e) return 0;
  const char32_t plain = c - 0xfee0;
  return plain == '!' || plain == '?' || plain == '~' || plain == '\\' ? 0 : plain;
}

}  // namespace

bool has_other_characters(std::string_view text) {
  std::uint64_t bits = 0;  // eight bytes at a time, since whole responses are searched
  std::size_t at = 0;
  for (; at + sizeof(bits) <= text.size(); at += sizeof(bits)) {
    std::uint64_t next = 0;
    std::memcpy(&next, text.data() + at, sizeof(next));
    bits |= next;
  }
  for (; at < text.size(); ++at) bits |= static_cast<unsigned char>(text[at]);
  return (bits & 0x8080808080808080U) != 0;
}

std::string with_plain_characters(std::string_view text) {
  std::string out;
  char32_t last = 0;  // the character that a mark may change
  std::size_t last_at = 0;
  while (!text.empty()) {
    if (const std::size_t length = append_accented(out, text); length > 0) {
      text.remove_prefix(length);
      continue;
    }
    // Most characters are ASCII and stay.
    std::size_t plain_length = 0;
    while (plain_length < text.size() && static_cast<unsigned char>(text[plain_length]) < 0x80 &&
           (text[plain_length] != '\\' || plain_length == 0))
      ++plain_length;
    if (plain_length > 0) {
      out += text.substr(0, plain_length);
      text.remove_prefix(plain_length);
      last = static_cast<unsigned char>(out.back());
      last_at = out.size() - 1;
      continue;
    }
    const Character next = first_of(text);
    const std::string_view bytes = text.substr(0, next.length);
    text.remove_prefix(next.length);
    const char32_t c = next.value;
    if (is_ignored(c)) continue;
    const char32_t both = c >= 0x300 ? composed(last, c) : 0;
    const std::size_t at = both == 0 ? out.size() : last_at;
    if (both != 0) {
      out.resize(last_at);
      append(out, both);
    } else if (const char32_t plain = half_width(c)) {
      append(out, plain);
    } else if (const auto digit = digit_of(c)) {
      append(out, '0' + *digit);
    } else if (const std::size_t sign = kSigns.find(c); c >= 0x80 && sign != kSigns.npos) {
      append(out, kMeanings[sign]);
    } else if (const auto* entry = std::ranges::find(kSpellings, c, &Spelling::character);
               entry != kSpellings.end()) {
      out += entry->text;
    } else if (!append_mathematical(out, c) && !append_listed_number(out, c)) {
      out += bytes;
    }
    last = both == 0 ? c : both;
    last_at = at;
  }
  return out;
}

}  // namespace lie::latex
