#include "learner/trainer/trainer_options.h"

#include "common/base/error.h"

namespace lie {
namespace {

constexpr const char* kGradientShardsHelp =
    "Number of gradient shards, the partial sums of a gradient. They are added in a fixed tree, so "
    "that results do not depend on the number of learners up to this number. Another number of "
    "shards changes rounding. One learner holds log2(shards) + 1 gradients. Leave alone unless "
    "more learners are needed.";

constexpr const char* kZeroStageHelp =
    "What learners divide among each other (ZeRO). 1: master weights and moments; each learner "
    "holds whole gradients. 2: gradients, too; they are added layer by layer after each "
    "micro-batch, so that update.max_micro_batch_tokens then changes rounding. 3: the weights of "
    "all layers, too; a layer is gathered before each use, so that learners cannot also be actors, "
    "nor train an adapter. 0: 2 on GPUs, 1 on the CPU. A stage gives the same bits for any number "
    "of learners. 3 gives the bits of 2, and 1 differs in rounding. run.resume=changed accepts "
    "another stage.";

constexpr std::int64_t kMostActivationMebibytes = std::int64_t{1} << 24;
constexpr const char* kActivationHelp =
    "Memory of a forward and backward pass for activations, their gradients and logits. What does "
    "not fit is recomputed, which changes no result. 0: three quarters of the free GPU memory at "
    "the first pass, or 4096 on the CPU. Leave alone unless memory is short.";

}  // namespace

void describe(FieldList& fields, TrainerOptions& options) {
  fields.add(
      "max_micro_batch_tokens", options.max_micro_batch_tokens,
      {"Tokens of one forward and backward pass. It bounds memory and changes no result, except "
       "rounding with zero_stage 2 or 3.",
       "tokens", 1});
  fields.add("activation_mebibytes", options.activation_mebibytes,
             {kActivationHelp, "MiB", 0, kMostActivationMebibytes});
  fields.add("gradient_shards", options.gradient_shards,
             {kGradientShardsHelp, "", 1, kMaxGradientShards, "1"});
  fields.add("zero_stage", options.zero_stage, {kZeroStageHelp, "", 0, 3, "1"});
  fields.rename("lanes", "gradient_shards");
}

void set_zero_stage(TrainerOptions& options, bool is_on_gpu) {
  if (options.zero_stage == kStageByDevice) options.zero_stage = is_on_gpu ? 2 : 1;
}

void check_zero_stage(const TrainerOptions& options, bool trains_adapter) {
  if (options.zero_stage < 3 || !trains_adapter) return;
  fail(
      "update.zero_stage is 3 and model.lora is set: an adapter's base is whole on each learner, "
      "so that stage 3 would divide nothing more; set update.zero_stage to 2");
}

}  // namespace lie
