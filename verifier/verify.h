// Is this answer right? The one call that rewards, lie_verify and the Python module make.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/rollout/verdict.h"
#include "verifier/rules/options.h"

namespace lie {

/// What the verifier found, and why.
struct Verdict {
  VerdictCode code = VerdictCode::kNoAnswer;
  std::string extracted;  // the answer as found in the response; empty with kNoAnswer
  std::string reason;     // one sentence: the rule that decided, or position and cause of an error
  std::string gold_form;  // parsed forms, filled by explain() only
  std::string answer_form;
  std::int64_t steps = 0;  // budget spent, the same on every machine

  bool correct() const { return code == VerdictCode::kEqual; }
};

/// Compares the answer found in `response` with `gold` (an answer, or a text with a box or math
/// environment). Deterministic, thread-safe, never throws on any input, bounded by the options'
/// budgets.
Verdict verify(std::string_view gold, std::string_view response,
               const VerifierOptions& options = {});

/// verify() with both parsed forms.
Verdict explain(std::string_view gold, std::string_view response,
                const VerifierOptions& options = {});

/// Frees FLINT's caches of the calling thread; call it before a thread that verified ends.
void release_thread_caches();

}  // namespace lie
