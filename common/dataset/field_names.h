// Which fields of a row hold what, by the names that published data sets use.
#pragma once

#include <string>

#include "common/io/json_lines.h"

namespace lie {

/// Fields as RowOptions names them, by path; empty where a row has none that looks like it.
struct FieldNames {
  std::string prompt;   // a text, or chat messages that end with the user's turn
  std::string choices;  // a list of texts
  std::string gold;     // a text or number
  std::string data_source;
  std::string reference_length;  // a number; the published num_tokens is not one: it has an excess
};

/// Upper and lower case count as equal. Never throws.
FieldNames guess_fields(const JsonRow& row);

/// "the row has question, reward_model.ground_truth": the paths of all its fields, as far as 20.
std::string fields_text(const JsonRow& row);

}  // namespace lie
