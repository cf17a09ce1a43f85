// How a gradient is divided into shards and passes, for the policy update and for fine-tuning.
#pragma once

#include <cstdint>

#include "common/config/options.h"

namespace lie {

constexpr std::int64_t kDefaultGradientShards = 8, kMaxGradientShards = 64;

/// Options of a ShardedTrainer; describe() documents each field, as --help prints it. Only the
/// number of gradient shards changes a result.
struct TrainerOptions {
  std::int64_t max_micro_batch_tokens = 4096;             // tokens per pass, at least 1
  std::int64_t activation_mebibytes = 0;                  // MiB; 0: chosen by the device
  std::int64_t gradient_shards = kDefaultGradientShards;  // 1 to kMaxGradientShards
};
void describe(FieldList& fields, TrainerOptions& options);

}  // namespace lie
