// The paged KV cache. Sequences that begin with the same prompt share its pages.
#pragma once

#include <cstdint>
#include <memory>

#include "model/config/model_config.h"
#include "model/operators/operators.h"

namespace lie {

/// The keys and values of all sequences in flight, in pages of kPageTokens positions.
class KvCache {
 public:
  static constexpr std::int64_t kPageTokens = 16;

  /// Allocates `pages` pages, each over all layers. On a device it allocates one more, the scratch
  /// page of padding rows. Throws Error with the bytes requested if the allocation fails.
  KvCache(const ModelConfig& config, Operators& operators, std::int64_t pages);
  ~KvCache();

  std::int32_t open();
  /// Returns the handle of a new sequence that begins with all positions of `parent`. Full pages
  /// are shared. A last page that is not full is copied.
  std::int32_t fork(std::int32_t parent);
  /// Truncates the sequence to `length` positions. Throws Error if it has fewer. Also throws if the
  /// new last page would not be full and is shared, since the next position would be written there.
  void truncate(std::int32_t sequence, std::int64_t length);
  /// Closes the handle and frees the pages that no other sequence shares.
  void close(std::int32_t sequence);

  std::int64_t length(std::int32_t sequence) const;  // positions
  std::int64_t free_pages() const;
  /// Returns the number of elements of a page over all layers. Their type is the operators'
  /// packed_dtype().
  static std::int64_t page_elements(const ModelConfig& config) {
    return config.layers * 2 * kPageTokens * config.kv_heads * config.head_width;
  }
  static std::int64_t pages_for(std::int64_t tokens) {
    return (tokens + kPageTokens - 1) / kPageTokens;
  }

  struct State;
  State& state() { return *state_; }  // only for Transformer

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lie
