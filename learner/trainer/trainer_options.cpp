#include "learner/trainer/trainer_options.h"

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
    "micro-batch, so "
    "that update.max_micro_batch_tokens then changes rounding. A stage gives the same bits for any "
    "number of learners; two stages differ in rounding. run.resume=changed accepts another stage.";

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
       "rounding with zero_stage 2.",
       "tokens", 1});
  fields.add("activation_mebibytes", options.activation_mebibytes,
             {kActivationHelp, "MiB", 0, kMostActivationMebibytes});
  fields.add("gradient_shards", options.gradient_shards,
             {kGradientShardsHelp, "", 1, kMaxGradientShards, "1"});
  fields.add("zero_stage", options.zero_stage, {kZeroStageHelp, "", 1, 2});
  fields.rename("lanes", "gradient_shards");
}

}  // namespace lie
