#include "verifier/latex/units.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/text/scan.h"
#include "verifier/latex/text.h"

namespace lie::latex {
namespace {

using exact::Rational;

/// A unit with all its spellings, separated by spaces. If they have a bar, those before it take the
/// prefixes of symbols (k, M), and those after it the prefixes of words (kilo, mega).
struct Entry {
  std::string_view spellings;
  // powers of length, mass, time, current and amount
  std::array<std::int8_t, 5> si = {};
  Base other = Base::kCount;  // a base that is not one of these five
  std::int64_t top = 1, bottom = 1;
  std::int8_t zeros = 0;  // exponent of a power of ten
};

constexpr std::array<Base, 5> kSiBases = {Base::kLength, Base::kMass, Base::kTime, Base::kCurrent,
                                          Base::kAmount};

// The base units are meter, gram, second, ampere and mole.
constexpr auto kEntries = std::to_array<Entry>({
    {"m 米|meter meters metre metres", {1}},
    {"м", {1}},
    {"км", {1}, Base::kCount, 1, 1, 3},
    {"см", {1}, Base::kCount, 1, 1, -2},
    {"мм", {1}, Base::kCount, 1, 1, -3},
    {"Å angstrom angstroms", {1}, Base::kCount, 1, 1, -10},
    {"AU", {1}, Base::kCount, 149597870700},
    {"pc|parsec parsecs", {1}, Base::kCount, 30856775814913673},
    {"furlong furlongs", {1}, Base::kCount, 201168, 1, -3},
    {"千米 公里", {1}, Base::kCount, 1, 1, 3},
    {"厘米", {1}, Base::kCount, 1, 1, -2},
    {"毫米", {1}, Base::kCount, 1, 1, -3},
    {"in inch inches", {1}, Base::kCount, 254, 1, -4},
    {"ft foot feet", {1}, Base::kCount, 3048, 1, -4},
    {"yd yard yards", {1}, Base::kCount, 9144, 1, -4},
    {"mi mile miles", {1}, Base::kCount, 1609344, 1, -3},
    {"g 克|gram grams", {0, 1}},
    {"gm gms г", {0, 1}},
    {"кг", {0, 1}, Base::kCount, 1, 1, 3},
    {"Da|dalton daltons", {0, 1}, Base::kCount, 166053906660, 1, -35},
    {"千克 公斤", {0, 1}, Base::kCount, 1, 1, 3},
    {"t ton tons tonne tonnes 吨", {0, 1}, Base::kCount, 1, 1, 6},
    {"oz ounce ounces", {0, 1}, Base::kCount, 45359237, 16, -5},
    {"lb lbs pound pounds", {0, 1}, Base::kCount, 45359237, 1, -5},
    {"s sec secs 秒|second seconds", {0, 0, 1}},
    {"с", {0, 0, 1}},
    {"min mins minute minutes 分钟 мин", {0, 0, 1}, Base::kCount, 60},
    {"h hr hrs hour hours 小时 ч", {0, 0, 1}, Base::kCount, 3600},
    {"day days 天", {0, 0, 1}, Base::kCount, 86400},
    {"week weeks wk wks", {0, 0, 1}, Base::kCount, 604800},
    {"month months", {0, 0, 1}, Base::kCount, 2629746},
    {"yr|year years", {0, 0, 1}, Base::kCount, 31556952},
    {"yrs 年", {0, 0, 1}, Base::kCount, 31556952},
    {"a.m am", {}, Base::kForenoon},
    {"p.m pm", {}, Base::kAfternoon},
    {"A amp amps ampere amperes|", {0, 0, 0, 1}},
    {"mol mole moles|", {0, 0, 0, 0, 1}},
    {"K kelvin kelvins", {}, Base::kKelvin},
    {"celsius degreecelsius degreescelsius °C °c", {}, Base::kCelsius},
    {"fahrenheit degreefahrenheit degreesfahrenheit °F °f", {}, Base::kFahrenheit},
    {"M molar", {-3, 0, 0, 0, 1}, Base::kCount, 1, 1, 3},
    {"mM", {-3, 0, 0, 0, 1}},
    {"μM µM muM", {-3, 0, 0, 0, 1}, Base::kCount, 1, 1, -3},
    {"nM", {-3, 0, 0, 0, 1}, Base::kCount, 1, 1, -6},
    {"C coulomb coulombs|", {0, 0, 1, 1}},
    {"Hz|hertz", {0, 0, -1}},
    {"Bq|becquerel becquerels", {0, 0, -1}},
    {"Gy|gray grays", {2, 0, -2}},
    {"Sv|sievert sieverts", {2, 0, -2}},
    {"N|newton newtons", {1, 1, -2}, Base::kCount, 1, 1, 3},
    {"Pa|pascal pascals", {-1, 1, -2}, Base::kCount, 1, 1, 3},
    {"J|joule joules", {2, 1, -2}, Base::kCount, 1, 1, 3},
    {"eV|electronvolt electronvolts", {2, 1, -2}, Base::kCount, 1602176634, 1, -25},
    {"cal|calorie calories", {2, 1, -2}, Base::kCount, 4184},
    {"W|watt watts", {2, 1, -3}, Base::kCount, 1, 1, 3},
    {"Wh|watthour watthours", {2, 1, -2}, Base::kCount, 3600, 1, 3},
    {"Ah|amperehour amperehours", {0, 0, 1, 1}, Base::kCount, 3600},
    {"psi", {-2, 1}, Base::kCount, 45359237, 64516, 3},  // pounds are a mass here
    {"cc", {3}, Base::kCount, 1, 1, -6},
    {"rpm", {0, 0, -1}, Base::kCount, 1, 60},
    {"lightyear lightyears ly", {1}, Base::kCount, 9460730472580800},
    {"S|siemens", {-2, -1, 3, 2}, Base::kCount, 1, 1, -3},
    {"V|volt volts", {2, 1, -3, -1}, Base::kCount, 1, 1, 3},
    {"Omega Ω|ohm ohms", {2, 1, -3, -2}, Base::kCount, 1, 1, 3},
    {"F farad farads|", {-2, -1, 4, 2}, Base::kCount, 1, 1, -3},
    {"T tesla|", {0, 1, -2, -1}, Base::kCount, 1, 1, 3},
    {"Wb weber webers|", {2, 1, -2, -1}, Base::kCount, 1, 1, 3},
    {"H henry henries|", {2, 1, -2, -2}, Base::kCount, 1, 1, 3},
    {"bar bars|", {-1, 1, -2}, Base::kCount, 1, 1, 8},
    {"atm", {-1, 1, -2}, Base::kCount, 101325, 1, 3},
    {"mmHg mmhg torr", {-1, 1, -2}, Base::kCount, 101325, 760, 3},
    {"knot knots", {1, 0, -1}, Base::kCount, 1852, 3600},
    {"L l 升|liter liters litre litres", {3}, Base::kCount, 1, 1, -3},
    {"毫升", {3}, Base::kCount, 1, 1, -6},
    {"gal gallon gallons", {3}, Base::kCount, 3785411784, 1, -12},
    {"quart quarts", {3}, Base::kCount, 3785411784, 4, -12},
    {"pint pints", {3}, Base::kCount, 3785411784, 8, -12},
    {"acre acres", {2}, Base::kCount, 40468564224, 1, -7},
    {"hectare hectares ha", {2}, Base::kCount, 1, 1, 4},
    {"mph", {1, 0, -1}, Base::kCount, 1609344, 3600, -3},
    {"kmh kph", {1, 0, -1}, Base::kCount, 1000, 3600},
    {"degree degrees", {}, Base::kDegree},
    {"rad radian radians", {}, Base::kRadian},
    {"bit bits", {}, Base::kBit},
    {"Kb kb", {}, Base::kBit, 1, 1, 3},
    {"Mb", {}, Base::kBit, 1, 1, 6},
    {"Gb", {}, Base::kBit, 1, 1, 9},
    {"Tb", {}, Base::kBit, 1, 1, 12},
    {"KB", {}, Base::kBit, 8, 1, 3},
    {"bps|", {0, 0, -1}, Base::kBit},
    {"Bps|", {0, 0, -1}, Base::kBit, 8},
    {"B|byte bytes", {}, Base::kBit, 8},
    {"$ dollar dollars usd 美元", {}, Base::kDollar},
    {"cent cents ¢", {}, Base::kDollar, 1, 1, -2},
    {"€ euro euros eur 欧元", {}, Base::kEuro},
    {"£ gbp 英镑", {}, Base::kPound},
    {"yen jpy 日元", {}, Base::kYen},
    {"元 ¥ yuan rmb cny 人民币", {}, Base::kYuan},
    {"角", {}, Base::kYuan, 1, 1, -1},
    {"₹ rupee rupees inr rs", {}, Base::kRupee},
});

struct Prefix {
  std::string_view word, symbol;
  int zeros;
};
constexpr Prefix kPrefixes[] = {
    {"tera", "T", 12},  {"giga", "G", 9},   {"mega", "M", 6},    {"kilo", "k", 3},
    {"kilo", "K", 3},   {"hecto", "h", 2},  {"deca", "da", 1},   {"deci", "d", -1},
    {"centi", "c", -2}, {"milli", "m", -3}, {"micro", "mu", -6}, {"micro", "μ", -6},
    {"micro", "µ", -6}, {"nano", "n", -9},  {"pico", "p", -12},  {"femto", "f", -15}};

using Spellings = std::unordered_map<std::string_view, const Entry*>;

// Adds each spelling of a list, unless an earlier entry has it.
void add(std::string_view list, const Entry& entry, Spellings& spellings) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(" |"), list.size());
    spellings.emplace(list.substr(0, end), &entry);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

// The entries by spelling.
struct Index {
  Spellings all, of_symbols, of_words;  // the latter two take prefixes
};

const Index& entries() {
  static const Index kIndex = [] {
    Index made;
    for (const Entry& entry : kEntries) {
      const std::size_t bar = entry.spellings.find('|');
      add(entry.spellings, entry, made.all);
      if (bar == std::string_view::npos) continue;
      add(entry.spellings.substr(0, bar), entry, made.of_symbols);
      add(entry.spellings.substr(bar + 1), entry, made.of_words);
    }
    return made;
  }();
  return kIndex;
}

const Entry* find(std::string_view word, const Spellings& spellings) {
  const auto found = spellings.find(word);
  return found == spellings.end() ? nullptr : found->second;
}

struct Measure {
  const Entry* entry = nullptr;
  int zeros = 0;  // exponent of ten of the prefix
};

Measure measure(std::string_view word) {
  if (const Entry* entry = find(word, entries().all)) return {entry};
  for (const bool symbol : {true, false}) {
    const Spellings& spellings = symbol ? entries().of_symbols : entries().of_words;
    for (const Prefix& prefix : kPrefixes) {
      const std::string_view start = symbol ? prefix.symbol : prefix.word;
      if (!word.starts_with(start)) continue;
      if (const Entry* entry = find(word.substr(start.size()), spellings)) {
        return {entry, prefix.zeros};
      }
    }
  }
  return {};
}

// Looks a word up as it is written, and then in small letters: KM, Meters.
Measure measure_of(std::string_view word) {
  const Measure out = measure(word);
  return out.entry != nullptr ? out : measure(lowered(word));
}

void multiply(Unit& unit, const Measure& measure, int power) {
  const Entry& entry = *measure.entry;
  for (std::size_t i = 0; i < entry.si.size(); ++i) {
    std::int8_t& here = unit.powers[static_cast<std::size_t>(kSiBases[i])];
    here = static_cast<std::int8_t>(here + power * entry.si[i]);
  }
  if (entry.other != Base::kCount) {
    std::int8_t& here = unit.powers[static_cast<std::size_t>(entry.other)];
    here = static_cast<std::int8_t>(here + power);
  }
  const Rational factor =
      Rational(entry.top, entry.bottom) * exact::power_of_ten(entry.zeros + measure.zeros);
  unit.factor = unit.factor * exact::power(factor, power);
}

// Takes the power after a word: ^2, ^{-1}, ². Returns 1 if there is none, and 0 on an error.
int take_power(std::string_view& text) {
  if (take(text, "²") || take(text, "squared")) return 2;
  if (take(text, "³") || take(text, "cubed")) return 3;
  if (!take(text, "^")) return 1;
  const bool negative = take(text, "-");
  if (text.empty() || !is_digit(text.front())) return 0;
  const int power = text.front() - '0';
  text.remove_prefix(1);
  return negative ? -power : power;
}

int power_in_words(std::string_view& text) {
  for (const std::string_view word : {"square", "sq.", "sq", "平方"})
    if (text.size() > word.size() && take(text, word)) return 2;
  for (const std::string_view word : {"cubic", "cu.", "立方"})
    if (text.size() > word.size() && take(text, word)) return 3;
  return 1;
}

// Takes one factor from the front of a text.
bool take_factor(std::string_view& text, int sign, Unit& unit) {
  const int worded = power_in_words(text);
  const std::size_t end = std::min(text.find_first_of("^/*-"), text.size());
  std::size_t length =
      std::min({end, text.find("cdot"), text.find("·"), text.find("⋅"), text.find("per"),
                text.find("²"), text.find("³"), text.find("squared"), text.find("cubed")});
  Measure found = measure_of(text.substr(0, length));
  if (found.entry == nullptr && length < end) {
    length = end;  // "per" and the like within a word
    found = measure_of(text.substr(0, length));
  }
  if (found.entry == nullptr) return false;
  text.remove_prefix(length);
  const int power = take_power(text);
  if (power == 0) return false;
  multiply(unit, found, sign * worded * power);
  return true;
}

}  // namespace

std::optional<Unit> read_unit(std::string_view text) {
  constexpr std::size_t kLongest = 60;  // bytes
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  Unit unit;
  int sign = 1;
  while (true) {
    if (!take_factor(text, sign, unit)) return std::nullopt;
    while (text.ends_with('.')) text.remove_suffix(1);
    if (text.empty()) return unit;
    if (take(text, "/") || take(text, "per"))
      sign = -1;
    else if (!(text.size() > 1 && is_letter(text[1]) && take(text, "-")) && !take(text, "cdot") &&
             !take(text, "*") && !take(text, "·") && !take(text, "⋅"))
      return std::nullopt;
  }
}

namespace {

// Writes thin spaces as spaces, and J/(kg K) without its brackets as J/kg/K.
std::string spaced_unit(std::string_view text) {
  std::string out;
  bool below = false;  // between the brackets after a slash
  while (!text.empty()) {
    if (text.front() == ' ' && out.ends_with(' ')) {
      text.remove_prefix(1);
    } else if (take(text, "\\,") || take(text, "\\;") || take(text, "\\ ") || take(text, "~")) {
      if (!out.ends_with(' ')) out += ' ';
    } else if (take(text, "/(")) {
      below = true;
      out += '/';
    } else if (below && take(text, ")")) {
      below = false;
    } else if (below && (take(text, "\\cdot ") || take(text, "\\cdot") || take(text, "·") ||
                         take(text, " ") || take(text, "*"))) {
      if (out.back() != '/') out += '/';
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace

std::string unit_name(std::string_view written) {
  const bool plain_spaces = written.find_first_of("\\~(") == std::string_view::npos;
  const std::string spaced = plain_spaces ? std::string() : spaced_unit(written);
  const std::string_view text = plain_spaces ? written : spaced;
  std::string plain = unit_text(text);
  const auto parts_words = [text](std::size_t i) {
    return i > 0 && i + 1 < text.size() && text[i] == ' ' &&
           (is_letter_or_digit(text[i - 1]) || text[i - 1] == '}') && is_letter(text[i + 1]);
  };
  std::size_t space = text.find(' ');
  while (space < text.size() && !parts_words(space)) space = text.find(' ', space + 1);
  // "degrees Celsius" is one unit, and "N m" is no nanometer.
  if (space >= text.size() || (plain.size() > 4 && find(lowered(plain), entries().all) != nullptr))
    return plain;
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i)
    parts_words(i) ? joined.append("cdot") : joined.append(1, text[i]);
  joined = unit_text(joined);
  return read_unit(joined) ? joined : plain;
}

std::optional<UnitsOfSum> parts_of_sum(std::string_view words) {
  constexpr std::string_view kDigits = "0123456789.";
  const std::size_t begin = words.find_first_of(kDigits);
  const std::size_t end = words.find_first_not_of(kDigits, begin);
  if (begin == words.npos || end == words.npos) return std::nullopt;
  UnitsOfSum out{trimmed(words.substr(0, begin)), words.substr(begin, end - begin),
                 trimmed(words.substr(end))};
  constexpr std::string_view kAnd = " and";
  if (out.first.ends_with(kAnd))
    out.first = trimmed(out.first.substr(0, out.first.size() - kAnd.size()));
  const std::optional<Unit> first = read_unit(unit_name(out.first));
  const std::optional<Unit> second = read_unit(unit_name(out.second));
  if (!first || !second || first->powers != second->powers) return std::nullopt;
  return out;
}

bool names_dimension(std::string_view words, const Unit& unit) {
  constexpr std::size_t kShortest = 3;
  return std::ranges::any_of(entries().all, [&](const auto& known) {
    const std::string_view spelling = known.first;
    if (spelling.size() < kShortest || words.find(lowered(spelling)) == words.npos) return false;
    const std::optional<Unit> found = read_unit(spelling);
    return found && found->powers == unit.powers;
  });
}

}  // namespace lie::latex
