// How a gradient is divided into shards and passes, for the policy update and for fine-tuning.
#pragma once

#include <cstdint>

#include "common/config/options.h"

namespace lie {

constexpr std::int64_t kDefaultGradientShards = 8, kMaxGradientShards = 64;
constexpr std::int64_t kStageByDevice = 0;  // in a config

/// Options of a ShardedTrainer; describe() documents each field, as --help prints it. The number of
/// gradient shards and the ZeRO stage change the rounding of a gradient, except that stage 3 gives
/// the bits of stage 2. In these two, the size of micro-batches changes it, too.
struct TrainerOptions {
  std::int64_t max_micro_batch_tokens = 4096;             // tokens per pass, at least 1
  std::int64_t activation_mebibytes = 0;                  // MiB; 0: chosen by the device
  std::int64_t gradient_shards = kDefaultGradientShards;  // 1 to kMaxGradientShards
  std::int64_t zero_stage = 1;                            // 1 to 3, or kStageByDevice
};
void describe(FieldList& fields, TrainerOptions& options);

/// Sets the stage where it is kStageByDevice.
void set_zero_stage(TrainerOptions& options, bool is_on_gpu);

/// Throws Error, which names the key and a remedy, if the stage does not go with what is trained.
void check_zero_stage(const TrainerOptions& options, bool trains_adapter);

}  // namespace lie
