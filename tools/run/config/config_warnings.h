// Finds settings that are legal in a config but almost certainly mistakes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/rollout/prompt_stream.h"
#include "common/rollout/rollout.h"
#include "tools/run/config/train_config.h"

namespace lie {

/// Returns one sentence for each likely mistake, naming the keys to change. Counts the prompts that
/// are too long with the model's tokenizer. Throws Error if the tokenizer cannot be read.
std::vector<std::string> config_warnings(const TrainConfig& config,
                                         std::span<const Prompt> training,
                                         std::span<const Prompt> evaluation = {});

/// Returns a sentence if prompts of this kind ("training") lose tokens; else an empty text. Throws
/// Error if the tokenizer cannot be read.
std::string truncation_warning(const TrainConfig& config, std::span<const Prompt> prompts,
                               std::string_view kind);

/// Returns a sentence for each part of a curriculum that the run repeats within a step or never
/// reaches. `plans` are those of plan_passes().
std::vector<std::string> curriculum_warnings(const TrainConfig& config,
                                             std::span<const PassPlan> plans);

/// Returns a sentence if the prompt template is plain and the model has a chat template; else an
/// empty text.
std::string template_warning(std::string_view prompt_template, const std::string& model_path);

/// Returns a sentence if the model's generation_config.json has keys by which transformers would
/// change or bar tokens; else an empty text. Throws Error if the file is not JSON.
std::string generation_warning(const std::filesystem::path& model_directory);

/// Returns a sentence if the optimizer's warm-up is at least as long as the run; else an empty
/// text. `unit` is the unit of optimizer.warmup: updates or steps.
std::string warmup_warning(std::int64_t warmup, std::int64_t length, std::string_view unit);

/// Returns a sentence if a learning rate is 0, or so large that no run learns; else an empty text.
std::string learning_rate_warning(double rate);

/// Returns a sentence if sampling takes the most likely token always, so that several responses to
/// a prompt in an evaluation are equal; else an empty text.
std::string greedy_warning(const SamplingOptions& sampling, std::int64_t samples_per_prompt);

}  // namespace lie
