// Finds prompts that have different correct answers in different rows or files.
#pragma once

#include <span>
#include <string>

#include "common/rollout/rollout.h"

namespace lie {

/// Returns a sentence with the number of prompts that occur with different correct answers,
/// and the first of them. Prompts are compared as collapsed() returns them. Empty if there is none.
/// With `by_verifier`, answers that the verifier finds equal do not differ.
std::string contradictions_text(std::span<const Prompt> prompts, bool by_verifier);

/// The prompts of a file.
struct FilePrompts {
  std::string file;
  std::span<const Prompt> prompts;
};

/// Likewise, for prompts with different correct answers in different files.
std::string contradictions_text(std::span<const FilePrompts> files, bool by_verifier);

}  // namespace lie
