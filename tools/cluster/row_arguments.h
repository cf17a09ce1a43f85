// Arguments that tokenize, score and generate share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/arguments/number_arguments.h"

namespace lie {

/// Adds --add-special-tokens. `what` names the texts that get them.
inline void add_special_tokens(CLI::App& command, bool& value, const std::string& what) {
  command.add_flag("--add-special-tokens", value,
                   "Add what the tokenizer's post-processor puts around each " + what +
                       ", such as Llama 3's <|begin_of_text|>; the default is that of "
                       "transformers' add_special_tokens=False");
}

/// Adds the options that score and generate share: the model, the rows, and how texts become ids.
inline void add_model_and_rows(CLI::App& command, auto& arguments, const std::string& fields) {
  command
      .add_option("MODEL_DIR", arguments.model.path,
                  "Hugging Face directory: config.json, model*.safetensors, tokenizer.json")
      ->required();
  command
      .add_option("FILE", arguments.input,
                  "JSONL; a row has " + fields + "; other fields are copied; -: standard input")
      ->required();
  command
      .add_option("--device", arguments.model.device,
                  "cpu, cpu-bf16, aten-cpu, cuda or cuda-exact, the last two also with :<number>")
      ->capture_default_str();
  add_integer(command, "--threads", arguments.model.threads,
              "Threads on the CPU; 0: all cores. Results do not depend on it", 0, 1024);
  add_special_tokens(command, arguments.add_special_tokens, "prompt's text");
}

}  // namespace lie
