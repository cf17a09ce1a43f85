// Checks what a training run reads, before anything is written: model, tokenizer, data, schedule,
// and the programs that score.
#pragma once

#include <string>
#include <vector>

#include "common/rollout/prompt_stream.h"
#include "common/rollout/rollout.h"
#include "model/operators/operators.h"
#include "model/weights/weights.h"
#include "tools/run/config/train_config.h"
#include "tools/run/input/end_tokens.h"

namespace lie {

/// The prompts that the coordinator hands out.
struct RunPrompts {
  TrainingPrompts training;
  std::vector<Prompt> evaluation;  // empty without data.evaluation_file
};

/// The inputs of a run with valid settings.
struct RunInputs {
  EndTokens ends;
  WeightsPlan model;     // of config.model.path
  ComputeDTypes dtypes;  // of the operators on config.model's device
  RunPrompts prompts;
  std::vector<std::string> warnings;  // about settings, which are logged already
};

/// Whether the rows of data.evaluation_file are read. A stage of a run whose steps are all logged
/// evaluates nothing, and its file may be gone.
enum class EvaluationRows : std::uint8_t { kRead, kSkip };

/// Loads what every role needs. Throws Error if an input is missing or invalid, or if settings do
/// not fit it. Logs a warning for each input that is remarkable.
RunInputs check_inputs(const TrainConfig& config,
                       EvaluationRows evaluation = EvaluationRows::kRead);

/// Runs the reward and verifier programs of the config once, as a reward worker does, on a prompt
/// whose response is its gold answer. Throws Error if a program fails.
void try_programs(const TrainConfig& config, const Prompt& prompt);

}  // namespace lie
