// What lie_cluster sft reads before it loads weights: architecture, end tokens and examples.
#pragma once

#include <vector>

#include "learner/sft/sft_data.h"
#include "model/config/model_config.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/start/input_record.h"
#include "tools/sft/sft_config.h"

namespace lie {

/// The inputs that every rank reads before it loads weights.
struct SftInputs {
  ModelConfig model;
  EndTokens ends;
  int learners = 1;
  std::vector<SftExample> train = {}, held_out = {};
};

/// Reads the inputs of a job of `learners`. With `is_first`, also checks the files of the model
/// and warns of likely mistakes in the rows. Throws Error.
SftInputs read_inputs(const SftConfig& config, int learners, bool is_first);

/// Returns the record of what the run reads. Reads the weights once, unless `has_weights` is
/// false or they are made from a seed.
InputRecord record_of(const SftConfig& config, const SftInputs& inputs, bool has_weights = true);

/// Warns of evaluation examples whose prompts are those of training examples.
void warn_of_common_rows(const SftConfig& config, const SftInputs& inputs);

}  // namespace lie
