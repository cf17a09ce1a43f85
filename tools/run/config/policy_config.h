// The policy of the section "model": its architecture, as trained and as it generates, its adapter
// if the run trains one (model.lora), and its start weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "model/tokenizer/tokenizer.h"
#include "model/weights/adapter_file.h"
#include "model/weights/weights.h"
#include "tools/run/config/model_options.h"

namespace lie {

/// Returns the base and the adapter that model.path and model.adapter name.
PolicyFiles policy_files(const ModelOptions& options);

/// Returns the architecture of the trained policy. `directory` is model.path or a checkpoint of the
/// run. With model.lora the result has that adapter, and model.path names its base. Throws Error if
/// the rank is above that of a matrix.
ModelConfig trained_config(const ModelOptions& options, const std::filesystem::path& directory);

/// Returns the architecture of a model that generates. Its begin-of-sequence token, which a prompt
/// keeps that is cut for its length, is the tokenizer's if that has one.
ModelConfig generation_config(const std::filesystem::path& model, const Tokenizer& tokenizer);

/// Throws Error if model.path and model.adapter cannot be trained as model.lora says.
void check_trained(const ModelOptions& options);

/// Returns the start weights that a learner, of `learners`, holds: its range of model.path's, or
/// all of an adapter, whose new pairs derive from `seed`.
Weights start_weights(const ModelOptions& options, std::uint64_t seed, int learner, int learners,
                      Operators& operators);

}  // namespace lie
