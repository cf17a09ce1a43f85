// The commands that examine a model in one process, without a job.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lie {

/// Adds tokenize, score and generate; parsing one of them sets `chosen` to what runs it.
void add_model_commands(CLI::App& program, std::function<void()>& chosen);

}  // namespace lie
