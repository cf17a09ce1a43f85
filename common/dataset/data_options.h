// The config keys of data files: how rows are read, and which files a run has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/rollout/chat.h"
#include "common/rollout/prompt_stream.h"

namespace lie {

/// How the rows of every command are read. A field name may be a path, such as "extra_info.answer".
struct PromptOptions {
  std::string prompt_template = "plain";  // "model": the one of the model's directory
  BeginOfSequence begin_of_sequence = BeginOfSequence::kAuto;
  std::string prompt_field = "prompt";
  bool skip_bad_rows = false;  // false: a bad row is an error
};
void describe(FieldList& fields, PromptOptions& options);

/// How a dataset's rows become prompts with a correct answer.
struct RowOptions : PromptOptions {
  std::string prompt_suffix;
  std::string choices_field;
  std::int64_t first_choice = 1;  // number of the first choice where a number names the correct one
  std::string gold_field;
  std::string data_source_field = "data_source";
  std::string reference_length_field;
  double num_tokens_excess = 1000;
  // Not config keys:
  bool keep_rows = false;      // fills Prompt::row; set if a program needs the rows
  std::string read_accuracy;   // field of Dataset::accuracies; empty: none
  bool gold_optional = false;  // set if a program scores the responses
  bool find_fields = false;    // name_fields() by the first row with a prompt and an answer
};
void describe(FieldList& fields, RowOptions& options);

/// Adds the field that names the held-out data of a command.
void add_evaluation_file(FieldList& fields, std::vector<std::string>& files);

/// The data of a training run.
struct DataOptions : RowOptions {
  std::vector<std::string> train_file;       // one or more
  std::vector<std::int64_t> train_weights;   // one for each training file; empty: by rows
  std::vector<std::string> evaluation_file;  // one or more; empty: no evaluation
  std::vector<std::string> accuracy_bands;   // texts of parse_band(); empty: no curriculum
  std::string accuracy_field;
  bool shuffle = true;
};
void describe(FieldList& fields, DataOptions& options);

/// Returns the order in which a run with this seed draws its prompts. Throws Error if a text of
/// accuracy_bands is malformed.
PromptOrder prompt_order(const DataOptions& options, std::uint64_t seed);

}  // namespace lie
