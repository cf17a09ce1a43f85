// Units of measurement: their spellings, dimensions and sizes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "verifier/exact/rational.h"
#include "verifier/latex/lexer/lexer.h"

namespace lie::latex {

/// The quantities that units measure. Currencies and temperatures are not converted into each
/// other.
enum class Base : std::uint8_t {
  kLength,
  kMass,
  kTime,
  kCurrent,
  kKelvin,
  kCelsius,
  kFahrenheit,
  kAmount,
  kDegree,
  kRadian,
  kBit,
  kForenoon,
  kAfternoon,
  kDollar,
  kEuro,
  kPound,
  kYen,
  kYuan,
  kRupee,
  kCount,  // the number of bases
};

/// A product of powers of bases, with a factor to the base units.
struct Unit {
  std::array<std::int8_t, static_cast<std::size_t>(Base::kCount)> powers = {};
  exact::Rational factor = exact::Rational(1);

  bool is(Base base) const { return powers[static_cast<std::size_t>(base)] != 0; }
};

/// Returns the text of a unit as unit_text() writes it. Spaces between known units multiply them:
/// the unit "kg m/s" is kg\cdot m/s.
std::string unit_name(std::string_view text);

/// Reads "cm", "square centimeters", "km/h", "miles per hour", "N\cdot m" and "kg m^2/s^2" without
/// their spaces, as unit_text() writes them. Nothing if a part is no known unit. Capitals count
/// in symbols (mm, Mm), but not in words.
std::optional<Unit> read_unit(std::string_view text);

/// Reads "hours 30 minutes" and "hours and 30 minutes". Returns nothing for other words.
std::optional<UnitsOfSum> parts_of_sum(std::string_view words);

/// Returns whether words in small letters hold a long spelling of a unit of this dimension:
/// "centimeterstall" and m.
bool names_dimension(std::string_view words, const Unit& unit);

}  // namespace lie::latex
