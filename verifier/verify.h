// The entry point of the verifier, which rewards, lie_verify and the Python module call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/rollout/verdict.h"
#include "verifier/rules/options.h"

namespace lie {

/// The decision about a response, and its reason.
struct Verdict {
  VerdictCode code = VerdictCode::kNoAnswer;
  std::string extracted;  // the answer found in the response; empty with kNoAnswer
  std::string reason;  // one sentence: the rule that decided, or the position and cause of an error
  std::string gold_form;  // parsed forms, filled by explain() only
  std::string answer_form;
  std::int64_t steps = 0;  // budget spent, the same on every machine

  bool correct() const { return code == VerdictCode::kEqual; }
};

/// Compares the answer found in `response` with `gold` (an answer, or a text with a box or math
/// environment). Deterministic, thread-safe, never throws on any input, bounded by the options'
/// budgets. With a `prompt`, an answer that copies an unevaluated expression of it is kCopied
/// (option refuse_copied).
Verdict verify(std::string_view gold, std::string_view response,
               const VerifierOptions& options = {}, std::string_view prompt = {});

/// Returns the verdict of verify() with both parsed forms.
Verdict explain(std::string_view gold, std::string_view response,
                const VerifierOptions& options = {}, std::string_view prompt = {});

/// Returns why the verifier cannot read `gold`, or an empty text if it can. A gold that does not
/// parse, or does not equal itself in a box, rewards no answer except perhaps its own text. Costs
/// about as much as verify().
std::string unreadable_gold(std::string_view gold, const VerifierOptions& options = {});

/// Returns the part of `gold` that answers are compared with: what follows the last "####", a box's
/// content, or all of it.
std::string answer_in_gold(std::string_view gold, const VerifierOptions& options = {});

/// Returns "dates", "times of day", "ranges" or "codes" if a gold has such a form, and an empty
/// text otherwise. Such a gold is compared as it is written, and is no arithmetic.
std::string_view form_of_gold(std::string_view gold, const VerifierOptions& options = {});

/// Frees FLINT's caches of the calling thread. Call it before a thread that verified ends.
void release_thread_caches();

}  // namespace lie
