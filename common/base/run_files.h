// The names of those files and folders of a run directory that several parts open
// (docs/reference/run-directory.md).
#pragma once

namespace lie {

inline constexpr const char* kConfigFile = "config.yaml";     // all settings, written at the start
inline constexpr const char* kInputsFile = "inputs.yaml";     // hashes of models, data and programs
inline constexpr const char* kStartsFile = "starts.jsonl";    // starts and ends of the run
inline constexpr const char* kMetricsFile = "metrics.jsonl";  // one row a step
inline constexpr const char* kCheckpoints = "checkpoints";
inline constexpr const char* kTrajectories = "trajectories";
inline constexpr const char* kJournal = "journal";  // scored groups of the steps in progress
inline constexpr const char* kTensorBoard = "tensorboard";

}  // namespace lie
