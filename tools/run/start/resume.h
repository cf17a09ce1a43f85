// Whether a start may continue what its directory holds: one policy for train, sft and eval.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "common/config/options.h"

namespace lie {

/// Checks run.directory before anything is written there: it holds a
/// run (then true), or is empty or absent. Keys that change no result (memory, threads, slots,
/// layout of roles, checkpoints, number of steps) may differ, and those under `may_change`, which
/// change none for this command. Throws Error naming the keys that differ, or if the directory
/// holds something else.
bool holds_this_run(const std::filesystem::path& directory, const FieldList& config,
                    std::span<const std::string> may_change = {});

/// Checks that this config repeats the run that wrote the schedule, if that run's lies beside it.
/// Where data and model are may differ, as may keys that change no result. Throws Error naming the
/// keys that differ.
void check_repeats(const std::filesystem::path& schedule, const FieldList& config);

/// Creates the directory if missing and writes the resolved config.yaml: from then on it holds a
/// run.
void write_run_config(const std::filesystem::path& directory, const FieldList& config);

}  // namespace lie
