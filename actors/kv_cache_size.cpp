#include "actors/kv_cache_size.h"

#include <algorithm>
#include <optional>

#include "common/base/arithmetic.h"
#include "common/base/error.h"
#include "model/transformer/kv_cache.h"

namespace lie {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kHostCacheMebibytes = 4096;  // of an actor on the CPU, unless set

std::int64_t page_bytes(const ModelConfig& model, DType dtype) {
  return KvCache::page_elements(model) * dtype_bytes(dtype);
}

}  // namespace

std::int64_t pages_of_longest(const RolloutOptions& options) {
  return KvCache::pages_for(options.max_prompt_tokens) +
         KvCache::pages_for(options.longest_response()) + 1;
}

std::int64_t cache_share(std::int64_t gpu_bytes) { return gpu_bytes - gpu_bytes / 16; }

std::int64_t smallest_cache_mebibytes(const ModelConfig& model, const RolloutOptions& options,
                                      DType dtype) {
  return divided_up(pages_of_longest(options) * page_bytes(model, dtype), kMebibyte);
}

std::int64_t kv_cache_pages(const ModelConfig& model, const RolloutOptions& options, DType dtype) {
  check_fits_model(options, model);
  const std::int64_t smallest = smallest_cache_mebibytes(model, options, dtype);
  const std::int64_t limit = options.cache_mebibytes > 0 ? options.cache_mebibytes
                                                         : std::max(kHostCacheMebibytes, smallest);
  if (limit < smallest) {
    fail(
        "cache_mebibytes is {}, but one response of {} tokens to a prompt of {} needs {} MiB of KV "
        "cache: raise it, or lower max_prompt_tokens or max_response_tokens",
        limit, options.longest_response(), options.max_prompt_tokens, smallest);
  }
  return std::min(limit * kMebibyte / page_bytes(model, dtype),
                  options.slots * pages_of_longest(options));
}

RolloutOptions with_own_gpu(RolloutOptions options, const Operators& operators) {
  const std::optional<std::int64_t> free = operators.free_bytes();
  if (options.cache_mebibytes == 0 && free) {
    options.cache_mebibytes = std::max<std::int64_t>(1, cache_share(*free) / kMebibyte);
  }
  return options;
}

std::int64_t kv_cache_bytes(const ModelConfig& model, const RolloutOptions& options,
                            const Operators& operators) {
  return KvCache::pool_bytes(model, operators,
                             kv_cache_pages(model, options, operators.packed_dtype()));
}

}  // namespace lie
