// How closely a library's results must agree with those that they are checked against, and the
// sentence that says which of two implementations is used.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>

#include "model/aten/aten.h"

namespace lie::aten {

/// Bound of the relative error of results in bf16. Rounding to bf16 changes a number by up to 2^-9
/// of itself: the probabilities, their gradients, and the result.
inline constexpr double kMostError = 0.02;
/// How often a check computes, to see whether bits repeat.
inline constexpr int kRepetitions = 3;

/// Returns check(), a defect or an empty string. An exception is a defect, too.
template <typename Check>
std::string defect_or_exception(const Check& check) {
  try {
    return check();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {  // of this program and of cuDNN's frontend
    return error.what();
  }
}

/// Returns a sentence that names what is used, `preferred` unless it has a defect, and why.
inline std::string choice_text(const std::string& preferred, const std::string& other,
                               const std::string& defect) {
  if (!defect.empty()) return fmt::format("{}, not {}: {}", other, preferred, defect);
  return fmt::format(
      "{}: its bits repeat and its errors are those of rounding; what it refuses is left to {}",
      preferred, other);
}

}  // namespace lie::aten
