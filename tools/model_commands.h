// The commands that let a user look at a model by himself: one process, no job.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lie {

/// Adds tokenize, score and generate; parsing one of them sets `chosen` to what runs it.
void add_model_commands(CLI::App& program, std::function<void()>& chosen);

}  // namespace lie
