// The bodies of the verifier's fuzz targets. The test suite runs the same bodies over a fixed
// series of mutations.
#pragma once

#include <cstdlib>
#include <string_view>

namespace lie::fuzz {

/// Ends the process if a property does not hold, so that the fuzzer keeps the input.
inline void require(bool promise) {
  if (!promise) std::abort();
}

/// Extracts the boxes, the gold and the prose answer of a text. Must not crash, and every box must
/// be balanced.
void extract_body(std::string_view input);

/// Parses a text twice. Must not crash or hang, and both trees must be equal.
void parse_body(std::string_view input);

/// Verifies the first line as gold against the rest as response, in both modes. Must give a verdict
/// within the budget.
void verify_body(std::string_view input);

}  // namespace lie::fuzz
