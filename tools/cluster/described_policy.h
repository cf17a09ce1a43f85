// The policy of the commands that run in one process, generate and score.
#pragma once

#include "model/transformer/transformer.h"
#include "tools/run/config/model_options.h"

namespace lie {

/// Returns the policy of model.path and model.adapter, and says on standard error what it takes and
/// what is doubtful about its files. Throws Error if the adapter does not fit the base.
Transformer described_policy(const ModelOptions& options, Operators& operators);

}  // namespace lie
