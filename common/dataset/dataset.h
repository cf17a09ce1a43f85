// Reads prompts from JSONL and Parquet files, with our own field names or verl's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "common/io/json_lines.h"
#include "common/rollout/chat.h"
#include "common/rollout/prompt_stream.h"
#include "common/rollout/rollout.h"

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

/// Counts of row contents that the author may not have intended.
struct RowCounts {
  std::int64_t zero_keys = 0;     // choice questions whose correct answer is 0, with first_choice 1
  std::int64_t digit_keys = 0;    // choice questions whose correct answer is another number
  std::int64_t json_prompts = 0;  // prompts that are the JSON text of chat messages
  std::int64_t without_gold = 0;  // rows without a correct answer
  std::int64_t media = 0;         // prompts with the placeholder of an image, video or audio
  std::int64_t missing = 0;       // rows whose answer is the text of a missing value, such as nan
  std::int64_t lost_backslashes = 0;  // rows with a control character in place of a LaTeX command
  std::map<std::string, std::int64_t> unrendered = {};          // rows by unrendered_fields()
  std::map<std::string, std::int64_t> unrendered_choices = {};  // rows by unrendered_choices()
  std::map<std::string, std::int64_t> other_golds = {};  // rows by a field with another answer
};

/// Returns a sentence for each field that is not rendered, and for each kind of suspicious answer
/// or text, of `rows` rows in all.
std::vector<std::string> row_remarks(const RowCounts& counts, std::int64_t rows);

/// Returns whether a text looks like chat messages that were written as JSON.
bool is_json_messages(std::string_view text);

/// Returns whether a text has the control characters that a JSON reader makes of \frac, \beta,
/// \text and \right with one backslash.
bool has_lost_backslash(std::string_view text);

/// Returns a sentence if prompt_suffix has a backslash and n or t where a line end or a tab may be
/// meant; else an empty text.
std::string suffix_remark(const RowOptions& options);

/// The prompts of a file.
struct Dataset {
  std::vector<Prompt> prompts;       // `problem` is the row's number in the file, from 0
  std::int64_t rows = 0;             // number of rows in the file
  std::vector<std::string> skipped;  // reason per skipped row; only with skip_bad_rows
  std::vector<double> accuracies;    // by prompt, from RowOptions::read_accuracy
  RowCounts counts;
  RowOptions options;                // by which the rows were read, with the fields that were found
  std::vector<std::string> remarks;  // for the user: possible mistakes in the data, a sentence each
};

/// Returns the text of a row's prompt, as prompt_of() does.
std::string prompt_text(const JsonRow& row, const RowOptions& options, const RenderPrompt& render,
                        RowCounts& counts);

/// Returns the Prompt of a row and counts what is remarkable. Fields of a row:
/// - prompt: a text, which is one user's turn, or chat messages [{"role": "system" | "user" |
///   "assistant", "content": text}, ...] that end with a user's turn. A content may be a list of
///   text parts [{"type": "text", "text": text}, ...]. `render` converts the messages to the
///   prompt's text. Without `render` the contents are joined by empty lines. Must not be empty.
/// - choices: with choices_field, a list of texts, added below the question as lines "A. ...". The
///   correct answer is then a letter, or the number of a choice from first_choice on, as in MMLU
///   (0) and a few rows of ARC (1), which is converted to the letter.
/// - gold, a text, a number or a list of one: gold_field, or else the first of gold, answer,
///   reward_model.ground_truth. With gold_optional and without gold_field it may be absent.
/// - data source: optional, "" if absent.
/// - with keep_rows, the whole row as one line of JSON. Parquet lists and structs become JSON lists
///   and objects.
/// - L_ref in tokens: reference_length_field, or else the first of reference_length, and num_tokens
///   or reward_model.num_tokens minus num_tokens_excess. -1 if absent.
/// Throws Error with file and row if the row is malformed.
Prompt prompt_of(const JsonRow& row, const RowOptions& options, const RenderPrompt& render,
                 RowCounts& counts);

/// Sets the names of the fields that a row has under names of published datasets, unless the
/// program looks for them by default. Returns false if the row has no such prompt or no answer.
bool name_fields(const JsonRow& row, RowOptions& options);

/// Makes the prompt of a row, like prompt_of().
using MakePrompt = std::function<Prompt(const JsonRow& row, RowCounts& counts)>;

/// Reads one Prompt per row. Throws the Error of `make` for the first malformed row, or, with
/// `skip_bad_rows`, Error if all rows are malformed or choices are numbered from 0.
Dataset read_dataset(const std::filesystem::path& path, const MakePrompt& make, bool skip_bad_rows);
/// Reads one Prompt per row by prompt_of().
Dataset read_dataset(const std::filesystem::path& path, const RowOptions& options,
                     const RenderPrompt& render = {});

/// Returns "2 of 100 rows skipped; the first: train.jsonl:7: ...". Empty if no row was skipped.
std::string skipped_rows_text(const Dataset& dataset);

}  // namespace lie
