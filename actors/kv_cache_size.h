// The size of an actor's KV cache, which follows from the options and the memory that is there.
#pragma once

#include <cstdint>

#include "actors/rollout_options.h"
#include "model/config/model_config.h"
#include "model/operators/operators.h"

namespace lie {

/// Returns the pages of the longest prompt and of one response to it at its longest, with the page
/// that a fork begins with.
std::int64_t pages_of_longest(const RolloutOptions& options);

/// Returns the bytes that may be in use with a cache that is sized by a GPU. The rest, a sixteenth,
/// is for fragments and libraries.
std::int64_t cache_share(std::int64_t gpu_bytes);

/// Returns the number of pages of the KV cache, whose elements are `dtype`: enough for all slots at
/// their longest, or as many as the memory limit allows. Throws Error if the options do not fit the
/// model, or if the cache cannot hold even one response. With cache_mebibytes 0, the limit is that
/// of the CPU.
std::int64_t kv_cache_pages(const ModelConfig& model, const RolloutOptions& options, DType dtype);

/// Returns the smallest cache_mebibytes with which the cache holds one response.
std::int64_t smallest_cache_mebibytes(const ModelConfig& model, const RolloutOptions& options,
                                      DType dtype);

/// Returns options whose cache_mebibytes, if 0, is what is free on a GPU beside the weights, less a
/// sixteenth. For a process that has the GPU to itself.
RolloutOptions with_own_gpu(RolloutOptions options, const Operators& operators);

/// Returns the bytes of these pages for the operators' memory. Throws Error as kv_cache_pages().
std::int64_t kv_cache_bytes(const ModelConfig& model, const RolloutOptions& options,
                            const Operators& operators);

}  // namespace lie
