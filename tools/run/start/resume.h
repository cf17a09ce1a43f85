// Decides whether a start may continue the run in its directory, and makes its job the only writer
// there (invariant E9). The policy is shared by train, sft and eval.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/comm/job.h"
#include "common/config/options.h"
#include "tools/run/start/input_record.h"

namespace lie {

/// Checks run.directory before anything is written there. Returns true if it holds a run, false if
/// it is empty or absent. Keys that change no result (memory, threads, slots, layout of roles,
/// checkpoints, number of steps) may differ from that run's, and so may the paths of inputs that it
/// has recorded, and the keys and sections in `may_change`. Throws Error naming the keys that
/// differ, or if the directory holds something else. `remedy`, such as "set x, ", is added to the
/// remedies in the message.
bool holds_this_run(const std::filesystem::path& directory, const FieldList& config,
                    std::span<const std::string> may_change = {}, std::string_view remedy = "");

/// Returns the differences from the config of the run in `directory`, "key: there 1, here 2"; empty
/// if there are none. Ignores keys that change no result, and the keys and sections in
/// `may_change`.
std::string differences_text(const std::filesystem::path& directory, const FieldList& config,
                             std::span<const std::string> may_change = {});

/// Sets the keys of `config` that change no result, and those of model and training data, to their
/// values in `other`.
void copy_what_changes_no_result(const FieldList& config, const FieldList& other);

/// Returns whether the directory holds a start that ended before its first step and its first
/// evaluation were complete, such as one whose reward program failed at once. It then holds no
/// result. The command must write metrics.jsonl.
bool holds_no_step(const std::filesystem::path& directory);

/// Checks that this config repeats the run that wrote the schedule, if the config of that run is
/// stored next to the schedule. The paths of data and model may differ, as may keys that change no
/// result. Throws Error naming the keys that differ.
void check_repeats(const std::filesystem::path& schedule, const FieldList& config);

/// Creates the directory if it is missing and writes the resolved config.yaml. A directory with
/// this file counts as a run.
void write_run_config(const std::filesystem::path& directory, const FieldList& config);

/// Makes this job the only writer of a run directory, which then holds the config of the run and
/// the record of its inputs. Under the lock and before anything is recorded it calls `check`, which
/// throws Error if another process has created another run there in the meantime.
void open_run_directory(Job& job, const std::filesystem::path& directory, const FieldList& config,
                        const InputRecord& inputs, std::string_view command,
                        const std::function<void()>& check);

/// Throws the Error with which write_run_config() or become_writer() would fail, as far as can be
/// known without a change of the file system. Warns as become_writer() does.
void check_writable(const std::filesystem::path& directory);

/// Records this start in the directory of a run, and at the end of the job its exit status
/// (common/process/start_record.h). Warns if that is impossible, because no result needs it.
void record_this_start(Job& job, const std::filesystem::path& directory, std::string_view command);

/// Locks a directory or output file until the whole job has ended, whether it succeeds or fails;
/// see common/process/writer_lock.h. Rank 0 calls it before writing anything there. Logs if the
/// lock belonged to a process that died, and warns of links in the directory, which lead elsewhere.
/// Throws Error naming the holder if another process has it.
void become_writer(Job& job, const std::filesystem::path& guarded, std::string_view command);

}  // namespace lie
