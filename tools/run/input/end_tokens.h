// Finds the tokens that end a response, as named by the model's files and the prompt template.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "actors/rollout_options.h"

namespace lie {

struct EndTokens {
  std::vector<std::int64_t> ids;  // for RolloutOptions::end_of_sequence_ids
  std::string text;               // "end at <|endoftext|> (151643), <|im_end|> (151645)"
};

/// Returns the tokens that `options` name. If they name none, returns eos_token_id of
/// generation_config.json and config.json, eos_token of tokenizer_config.json and the template's
/// end of turn, in this order and each once. Thus sft, train and eval agree for the same model and
/// template. Throws Error if a name is no token of the model's tokenizer.json, or an id is not in
/// its vocabulary.
EndTokens end_tokens(const std::filesystem::path& model_directory, std::string_view prompt_template,
                     const RolloutOptions& options = {});

}  // namespace lie
