// Arguments that data, init, tokenize, score and generate share.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "common/dataset/data_options.h"
#include "tools/arguments/values.h"

namespace lie {

/// Adds --set for the keys data.*.
inline void add_row_overrides(CLI::App& command, std::vector<std::string>& overrides) {
  add_overrides(
      command, overrides,
      "How rows are read: --set data.prompt_template=model --set data.prompt_field=question");
}

/// Returns the keys data.* that say how rows are read.
inline FieldList row_fields(RowOptions& options) {
  FieldList fields;
  fields.section("data", options);
  return fields;
}

/// Returns the options that --set gives. The prefix "data." is optional for a key without a
/// section.
inline RowOptions row_options(std::span<const std::string> overrides) {
  RowOptions options;
  const FieldList fields = row_fields(options);
  for (const std::string& text : overrides) {
    const bool has_section = text.find('.') < text.find('=');
    const std::string override = has_section ? text : "data." + text;
    set_config(fields, std::span(&override, 1));
  }
  return options;
}

/// Returns the options that --set gives, for a look at a file: bad rows are skipped, and if
/// --set names no field, the program finds the fields.
inline RowOptions rows_to_find(std::span<const std::string> overrides) {
  RowOptions options = row_options(overrides);
  options.skip_bad_rows = true;
  options.find_fields = std::ranges::none_of(
      overrides, [](const auto& text) { return text.find("_field=") != std::string::npos; });
  return options;
}

/// Returns the options of score and generate for rows.
inline RowOptions rows_of(const auto& arguments) {
  RowOptions options = row_options(arguments.overrides);
  if (arguments.add_special_tokens) options.begin_of_sequence = BeginOfSequence::kAlways;
  return options;
}

/// Adds the options that score and generate share: the model, the rows, and how texts become ids.
inline void add_model_and_rows(CLI::App& command, auto& arguments, const std::string& fields) {
  command
      .add_option("MODEL_DIR", arguments.model.path,
                  "Hugging Face directory: config.json, model*.safetensors, tokenizer.json")
      ->required();
  command.add_option("--adapter", arguments.model.adapter,
                     "LoRA adapter in PEFT's format; default: that of MODEL_DIR, if it has one");
  command
      .add_option("FILE", arguments.input,
                  "JSONL; a row has " + fields + "; other fields are copied; -: standard input")
      ->required();
  command
      .add_option("--device", arguments.model.device,
                  "cpu, cpu-bf16, cuda or cuda-exact, the last two also with :<number>")
      ->capture_default_str();
  add_integer(command, "--threads", arguments.model.threads,
              "Threads on the CPU; 0: all cores. Results do not depend on it", 0, 1024);
  command.add_flag(
      "--add-special-tokens", arguments.add_special_tokens,
      "Begin each prompt's text as the tokenizer's post-processor does, once: the short "
      "form of --set data.begin_of_sequence=always");
  add_row_overrides(command, arguments.overrides);
}

}  // namespace lie
