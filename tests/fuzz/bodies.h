// The bodies of the fuzz targets. The test suite runs the same bodies on a fixed series of
// mutations.
#pragma once

#include <cstdlib>
#include <string_view>

namespace lie::fuzz {

/// Ends the process where an invariant is broken, so that a fuzzer keeps the input.
inline void require(bool invariant) {
  if (!invariant) std::abort();
}

/// Extracts boxes, gold and prose of a text. Every box is balanced.
void extract_body(std::string_view input);

/// Parses a text twice to the same tree.
void parse_body(std::string_view input);

/// Verifies the first line as gold against the rest as response, in both modes, within the budget.
void verify_body(std::string_view input);

}  // namespace lie::fuzz
