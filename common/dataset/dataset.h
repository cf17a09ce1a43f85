// Prompts from JSONL and Parquet files, in the field names that people have: our own, and verl's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/io/json_lines.h"
#include "common/rollout/chat.h"
#include "common/rollout/rollout.h"

namespace lie {

/// How a dataset's rows become prompts. A field name may be a path: "reward_model.ground_truth".
struct RowOptions {
  std::string prompt_template = "plain";
  std::string prompt_field = "prompt";
  std::string prompt_suffix;
  std::string choices_field;
  std::string gold_field;
  std::string data_source_field = "data_source";
  std::string reference_length_field;
  double num_tokens_excess = 1000;
  bool skip_bad_rows = false;
  bool keep_rows = false;  // Prompt::row; no key of its own: set where a program asks for rows
};
void describe(FieldList& fields, RowOptions& options);

/// The data of a training run.
struct DataOptions : RowOptions {
  std::string train_file;
  std::vector<std::string> evaluation_file;  // one or more; empty: no evaluation
  bool shuffle = true;
};
void describe(FieldList& fields, DataOptions& options);

/// What a file gave.
struct Dataset {
  std::vector<Prompt> prompts;       // `problem` is the row's number in the file, from 0
  std::int64_t rows = 0;             // of the file
  std::vector<std::string> skipped;  // reason per row; only with skip_bad_rows
  std::int64_t digit_keys = 0;       // choice questions whose right answer was a number
};

/// The Prompt of a row; counts in `digit_keys` as Dataset does. Fields of a row:
/// - prompt: a text, taken as one user's turn, or chat messages [{"role": "system" | "user" |
///   "assistant", "content": text}, ...] that end with a user's turn. `render` makes the prompt's
///   text of them; without it the contents are joined by empty lines. Must not be empty.
/// - choices: with choices_field, a list of texts, put under the question as lines "A. ..."; the
///   right answer is then a letter, or the number of a choice from 1 on, as in a few rows of ARC:
///   then its letter is taken.
/// - gold, a text or number: gold_field, or else the first of gold, answer,
///   reward_model.ground_truth.
/// - data source: optional, "" if absent.
/// - with keep_rows, the whole row as one line of JSON; of Parquet, lists and structs are JSON's.
/// - L_ref in tokens: reference_length_field, or else the first of reference_length, and num_tokens
///   or reward_model.num_tokens less num_tokens_excess; -1 if absent.
/// Throws Error with file and row if it is malformed.
Prompt prompt_of(const JsonRow& row, const RowOptions& options, const RenderPrompt& render,
                 std::int64_t& digit_keys);

/// Makes a row's prompt, as prompt_of() does.
using MakePrompt = std::function<Prompt(const JsonRow& row, std::int64_t& digit_keys)>;

/// One Prompt a row. Throws Error as `make` does for the first malformed row, or, with
/// `skip_bad_rows`, if no row is left.
Dataset read_dataset(const std::filesystem::path& path, const MakePrompt& make, bool skip_bad_rows);
/// The same by prompt_of().
Dataset read_dataset(const std::filesystem::path& path, const RowOptions& options,
                     const RenderPrompt& render = {});

/// "2 of 100 rows skipped; the first: train.jsonl:7: ..."; empty where none was.
std::string skipped_rows_text(const Dataset& dataset);

}  // namespace lie
