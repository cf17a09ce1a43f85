// The file mode of lie_verify: it reads JSON lines and writes them with verdicts in order, on
// several threads.
#pragma once

#include <array>
#include <cstdint>
#include <istream>
#include <ostream>
#include <string_view>

#include "verifier/verify.h"

namespace lie {

/// The counts of a file.
struct VerifyCounts {
  std::array<std::int64_t, kVerdictCount> by_code{};  // by VerdictCode
  std::int64_t rows = 0, bad_rows = 0;
};

/// Reads rows with "gold" (text or a number), "response" and optionally "prompt" from `in`. Writes
/// each to `out` in order, as soon as `in` has no further row available, with "correct", "reason"
/// and "extracted", and with `explains` also "why", "gold_form" and "answer_form". Numbers of a row
/// keep their literals where a double would round them. A bad row, such as one with a key twice, is
/// skipped and reported on `errors` by the name of the input and its line number. The output does
/// not depend on `threads`. Throws Error if `out` fails. The caller checks `in`.
VerifyCounts verify_jsonl(std::istream& in, std::string_view name, std::ostream& out,
                          std::ostream& errors, const VerifierOptions& options, bool explains,
                          int threads);

}  // namespace lie
