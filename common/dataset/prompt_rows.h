// Converts a row of a data file, with our own field names or verl's, to a prompt.
#pragma once

#include <string>

#include "common/dataset/data_options.h"
#include "common/dataset/row_remarks.h"
#include "common/io/json_lines.h"
#include "common/rollout/chat.h"
#include "common/rollout/rollout.h"

namespace lie {

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

}  // namespace lie
