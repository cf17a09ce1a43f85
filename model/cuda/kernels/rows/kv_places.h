// The places of keys and values in the pages of the KV cache.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

/// Pages of keys and values, each [L, 2, K, page tokens, E], and the rows' slots in them.
template <typename T>
struct KvPlaces {
  std::int64_t kv_heads, width, page_tokens, layer;
  const std::int32_t* slots;
  Rows<T> pool;

  /// Returns the address of a row's key of this head.
  LIE_ROW T* key(std::int64_t row, std::int64_t head) const {
    const auto slot = static_cast<std::uint32_t>(slots[row]),
               tokens = static_cast<std::uint32_t>(page_tokens);
    const std::int64_t place = (2 * layer * kv_heads + head) * page_tokens + slot % tokens;
    return pool[slot / tokens] + place * width;
  }
  LIE_ROW T* value(std::int64_t row, std::int64_t head) const {
    return key(row, head) + page_tokens * kv_heads * width;
  }
};

/// Stores keys and values in their slots.
template <typename T>
struct StoreKv {
  static constexpr int kSize = kPack<T>;
  Rows<const T> keys, values;  // [T, K*E]
  KvPlaces<T> to;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    const auto at = static_cast<std::uint32_t>(i), width = static_cast<std::uint32_t>(to.width);
    store(load<N>(keys[row] + i), to.key(row, at / width) + at % width);
    store(load<N>(values[row] + i), to.value(row, at / width) + at % width);
  }
};

}  // namespace lie::cuda
