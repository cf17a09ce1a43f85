// Finds prompts that have different correct answers in different rows.
#pragma once

#include <span>
#include <string>

#include "common/rollout/rollout.h"

namespace lie {

/// Returns a sentence with the number of prompts that occur with different correct answers,
/// and the first of them. Prompts are compared as collapsed() returns them. Empty if there is none.
/// With `by_verifier`, answers that the verifier finds equal do not differ.
std::string contradictions_text(std::span<const Prompt> prompts, bool by_verifier);

}  // namespace lie
