// The tokens that end a response: all that a model's files or the prompt template call an end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "actors/rollout_options.h"

namespace lie {

struct EndTokens {
  std::vector<std::int64_t> ids;  // as RolloutOptions::end_of_sequence_ids has them
  std::string text;               // "end at <|endoftext|> (151643), <|im_end|> (151645)"
};

/// Those that `options` name; without any, eos_token_id of generation_config.json and config.json,
/// eos_token of tokenizer_config.json and the template's end of turn, in this order and each once:
/// sft, train and eval of a model under a template agree. Throws Error if a name is no token of
/// the model's tokenizer.json, or an id not in its vocabulary.
EndTokens end_tokens(const std::filesystem::path& model_directory, std::string_view prompt_template,
                     const RolloutOptions& options = {});

}  // namespace lie
