// Paged key and value cache: sequences share the pages of a common prompt.
#pragma once

#include <cstdint>
#include <memory>

#include "model/config/model_config.h"
#include "model/operators/operators.h"

namespace lie {

/// Keys and values of all sequences in flight, in pages of kPageTokens positions.
class KvCache {
 public:
  static constexpr std::int64_t kPageTokens = 16;

  /// Room for `pages` pages over all layers. Throws Error with the bytes wanted if it cannot be
  /// had. On a device there is one more, for rows of nobody.
  KvCache(const ModelConfig& config, Operators& operators, std::int64_t pages);
  ~KvCache();

  /// A new empty sequence.
  std::int32_t open();
  /// A new sequence that begins with all positions of `parent`: full pages are shared, the last
  /// partial one is copied.
  std::int32_t fork(std::int32_t parent);
  /// Forgets all positions from `length` on. Throws Error if more would be left than there are, or
  /// a part of a page that others share: the next position would be written into it.
  void cut(std::int32_t sequence, std::int64_t length);
  /// Frees the sequence's pages that no other shares.
  void close(std::int32_t sequence);

  std::int64_t length(std::int32_t sequence) const;  // positions held
  std::int64_t free_pages() const;
  /// Elements of a page, over all layers, of the operators' packed_dtype().
  static std::int64_t page_elements(const ModelConfig& config) {
    return config.layers * 2 * kPageTokens * config.kv_heads * config.head_width;
  }
  static std::int64_t pages_for(std::int64_t tokens) {
    return (tokens + kPageTokens - 1) / kPageTokens;
  }

  struct State;
  State& state() { return *state_; }  // for Transformer

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lie
