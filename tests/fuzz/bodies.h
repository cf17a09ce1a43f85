// What each fuzz target does with its input; the test suite runs the same bodies over a fixed
// series of mutations.
#pragma once

#include <cstdlib>
#include <string_view>

namespace lie::fuzz {

/// A broken promise ends the process, so that a fuzzer keeps the input.
inline void require(bool promise) {
  if (!promise) std::abort();
}

/// Boxes, gold and prose of a text: no crash, and every box is balanced.
void extract_body(std::string_view input);

/// Parses a text: no crash, no endless work, the same tree twice.
void parse_body(std::string_view input);

/// Verifies the first line as gold against the rest as response, in both modes: an answer within
/// the budget.
void verify_body(std::string_view input);

}  // namespace lie::fuzz
