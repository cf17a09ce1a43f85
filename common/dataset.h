// Prompts from JSONL files, in the field names that people have: our own, and verl's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/options.h"
#include "common/rollout.h"

namespace lie {

/// How a dataset's rows become prompts. A field name may be a path: "reward_model.ground_truth".
struct DataOptions {
  std::string train_file;       // JSONL
  std::string evaluation_file;  // JSONL; empty: no evaluation
  bool shuffle = true;
  std::string prompt_field = "prompt";
  std::string gold_field;
  std::string data_source_field = "data_source";
  std::string reference_length_field;
  double num_tokens_excess = 1000;
};

void describe(FieldList& fields, DataOptions& options);

/// One Prompt a row, `problem` counting rows from 0. Fields of a row:
/// - prompt: a text, or chat messages [{"role": "system" | "user", "content": text}, ...], whose
///   contents are joined in order with an empty line between. Empty prompts are refused.
/// - gold: gold_field, or else the first of gold, answer, reward_model.ground_truth; text or
/// number.
/// - data source: optional, "" if absent.
/// - L_ref in tokens: reference_length_field, or else the first of reference_length, and num_tokens
/// or
///   reward_model.num_tokens less num_tokens_excess; -1 if absent.
/// Throws Error with file and line of the first row that is not so.
std::vector<Prompt> load_prompts(const std::filesystem::path& path, const DataOptions& options);

}  // namespace lie
