// The comparison of a run's inputs with those of a later start (invariant E12).
#pragma once

#include <filesystem>
#include <string>

#include "tools/run/start/input_record.h"

namespace lie {

/// What a comparison of inputs allows and advises.
struct InputRules {
  bool settings_may_change = false;  // of evaluations (run.resume=changed)
  bool names_other_teacher = false;  // the config names another directory than the run's
  std::string otherwise = "name another run.directory";  // the remedy besides restoring the input
  std::string evaluation_remedy = "";  // a further one for evaluation rows, such as "set x, "
};

/// Returns a sentence on the first input of `now` that differs from those in `then`, with the
/// remedy; empty if there is none. `run` names the run.
std::string input_difference(const InputRecord& then, const InputRecord& now,
                             const std::string& run, const InputRules& rules = {});

/// Throws Error with the input_difference() from the run in the directory. Does nothing if it holds
/// no run.
void check_same_inputs(const std::filesystem::path& run_directory, const InputRecord& now,
                       const InputRules& rules = {});

/// Returns a sentence on the first program file whose content has changed, or an empty text. A
/// changed program is no error, since it may be a repair.
std::string program_change(const InputRecord& then, const InputRecord& now);

}  // namespace lie
