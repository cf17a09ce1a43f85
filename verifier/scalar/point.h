// Points at which functions are compared: values of their names.
#pragma once

#include <cstdint>
#include <string_view>

#include "verifier/exact/rational.h"

namespace lie::scalar {

/// The kind of values that the names have.
enum class PointKind : std::uint8_t {
  kPositive,  // reals in (1/2, 5/2)
  kMixed,     // reals in (-5/2, 5/2), away from 0
  kWide,      // reals in (-1500, 1500), of 8 sizes and both signs within 16 successive seeds
  kInteger,   // 1 to 24
  kCovering,  // integers from 1 to 60, each of them within 60 successive seeds
  kLarge,     // integers from 30 to 1,000, for functions with steps
  kBelow,     // just below numbers at which functions with steps jump
  kAbove,     // just above them
  kComplex,   // names of complex numbers (is_complex_name) off the real line, others kPositive
};

/// Returns whether a name usually stands for a complex number: z, w, z_1 and the like.
bool is_complex_name(std::string_view name);

/// Returns whether a name usually stands for a whole number: k, m, n.
bool is_whole_name(std::string_view name);

/// Assigns values to names.
struct Point {
  PointKind kind = PointKind::kPositive;
  std::uint64_t seed = 0;

  exact::Rational value(std::string_view name) const;
};

}  // namespace lie::scalar
