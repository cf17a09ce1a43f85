// Guesses the meaning of a row's fields from the names that published datasets use.
#pragma once

#include <string>

#include "common/io/json_lines.h"

namespace lie {

/// Paths of the fields that RowOptions names. Empty if a row has no suitable field.
struct FieldNames {
  std::string prompt;   // a text, or chat messages that end with the user's turn
  std::string choices;  // a list of texts
  std::string gold;     // a text or number
  std::string data_source;
  std::string reference_length;  // a number; never num_tokens, which includes an excess
};

/// Guesses the fields of a row. Ignores case. Never throws.
FieldNames guess_fields(const JsonRow& row);

/// Returns "the row has question, reward_model.ground_truth" with the paths of its first 20 fields.
std::string fields_text(const JsonRow& row);

}  // namespace lie
