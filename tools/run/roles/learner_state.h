// What every learner of a run holds: the policy, its optimizer and its update.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/comm/collective/collective.h"
#include "learner/checkpoint/checkpoint_files.h"
#include "learner/update/optimizer.h"
#include "learner/update/update.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "tools/run/config/train_config.h"
#include "tools/run/roles/transport.h"
#include "tools/run/start/start.h"

namespace lie {

/// Built in the order of its members. The constructor restores the checkpoint that a run resumes
/// from, and throws Error if a file of the model or of the checkpoint is invalid.
struct LearnerState {
  std::unique_ptr<Operators> operators;
  std::unique_ptr<Collective> learners;  // reaches the operators' memory
  Weights weights;                       // the range that this learner holds
  AdamW optimizer;                       // the moments of this learner's shard
  Transformer policy;
  std::optional<Transformer> reference;  // the initial policy, if the loss has a KL term
  std::unique_ptr<PolicyUpdater> updater;
  std::string start_sha256;  // of the weights that the run began with
  TrainerState saved;        // of the checkpoint; the default at the start of a run

  LearnerState(const TrainConfig& config, const RunStart& start, const LearnerTransport& transport);
};

/// Returns this learner's end of weight sync. Collective over learners and actors.
std::unique_ptr<WeightSender> make_weight_sender(const LearnerTransport& transport,
                                                 const std::shared_ptr<LearnerState>& state);

}  // namespace lie
