// The inputs that a run began with, by content (invariant E12). The file inputs.yaml of the run
// directory holds them: JSON, which is also YAML, and a checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "common/dataset/data_options.h"
#include "tools/run/config/model_options.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/start/rows_record.h"

namespace lie {

/// What the results of a run depend on, besides its config. Unknown parts are empty. They are not
/// compared.
struct InputRecord {
  std::string weights;          // stored_weights_sha256(); empty also if they are made from a seed
  std::string adapter;          // adapter_sha256() of the start adapter, or kNoAdapter
  std::string architecture;     // shapes and constants of config.json that enter the forward pass
  std::string tokenizer;        // SHA-256 of tokenizer.json
  std::string special_tokens;   // SHA-256 of the added tokens of all tokenizer files
  std::string ends;             // EndTokens::text
  std::string prompt_template;  // name, or SHA-256 of the model's own; and the text before prompts
  std::string teacher = {};     // of distillation: of its weights and adapter; empty without one
  std::string teacher_architecture = {};
  std::optional<RowsRecord> training;    // data.train_file
  std::optional<RowsRecord> evaluation;  // data.evaluation_file
  // SHA-256 of the rows that programs receive, of data.train_file and of data.evaluation_file.
  std::string program_rows;
  std::string evaluation_program_rows = {};
  std::map<std::string, std::string> program_files = {};  // SHA-256 of each
  // Not stored: the places that messages name.
  std::string model_path, adapter_path, teacher_path, train_file, evaluation_file;
};
inline constexpr const char* kNoAdapter = "none";

/// Returns the record of a model, its adapter, and how prompts are written for it. Reads the
/// weights once, at the speed of SHA-256; with `has_weights` false, it does not. Throws Error if a
/// file is invalid, or if the adapter was trained on other base weights.
InputRecord model_record(const ModelOptions& options, const PromptOptions& prompts,
                         const EndTokens& ends, bool has_weights = true);

/// Adds the teacher in this directory to the record, as model_record() has the model.
void record_teacher(InputRecord& record, const std::filesystem::path& directory);

/// Returns the SHA-256 of the start policy, as logs hold it: that of its weights or, with an
/// adapter, of the hexadecimal sums of weights and adapter. Empty if the weights are unknown.
std::string policy_sha256(const InputRecord& record);

/// Returns the SHA-256 of each file of at most 64 MiB that a word of these commands names, by path.
/// ~ and variables are expanded.
std::map<std::string, std::string> program_files(std::span<const std::string> commands);

/// Returns the SHA-256 of the directory's tokenizer.json, as logs hold it.
std::string tokenizer_sha256(const std::filesystem::path& model);

/// Returns a hash of all stored parts.
std::string record_sha256(const InputRecord& record);

/// Returns the inputs that the run in the directory began with. A run of a build without records
/// has the weights and the tokenizer of its log. Throws Error if the file is damaged.
InputRecord recorded_inputs(const std::filesystem::path& run_directory);

/// Writes the record to the run directory, unless it is there. Parts that are unknown in `now` keep
/// their recorded values. Returns whether an existing run had no record.
bool record_inputs(const std::filesystem::path& run_directory, InputRecord now);

/// Returns the sentence for a run without a record: what could not be compared.
std::string unrecorded_text(const std::filesystem::path& run_directory);

}  // namespace lie
