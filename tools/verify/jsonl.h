// The file mode of lie_verify: reads JSON lines and writes them with verdicts, in order.
// Multithreaded.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <ostream>
#include <string_view>

#include "verifier/verify.h"

namespace lie {

/// Counts over a file.
struct VerifyCounts {
  std::array<std::int64_t, 7> by_code{};  // by VerdictCode
  std::int64_t rows = 0, bad_rows = 0;
};

/// Reads rows with "gold" (text, or a number) and "response" from `in`. Writes each to `out` in
/// order with "correct", "reason" and "extracted", and with `explains` also "why", "gold_form" and
/// "answer_form". Rows are written as soon as `in` has no further row available. An invalid row is
/// reported on `errors` with `name` and its line number, and skipped. The output does not depend on
/// `threads`. Throws if `out` fails; the caller checks `in`.
VerifyCounts verify_jsonl(std::istream& in, std::string_view name, std::ostream& out,
                          std::ostream& errors, const VerifierOptions& options, bool explains,
                          int threads);

}  // namespace lie
