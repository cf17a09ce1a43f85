// Inside of KvCache, for the transformer: which pages belong to which sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "model/transformer/kv_cache.h"

namespace lie {

struct KvCache::State {
  struct Sequence {
    std::vector<std::int32_t> pages;
    std::int64_t length = 0;
    bool open = false;
  };

  Operators* operators = nullptr;
  Buffer pool;  // [pages, L * 2 * kPageTokens * K * E], on a device one more
  std::vector<std::int32_t> free_pages;      // the last is taken first
  std::vector<std::int32_t> sharers;         // [pages] sequences that hold the page
  std::vector<Sequence> sequences;           // by handle
  std::vector<std::int32_t> free_sequences;  // handles to use again

  /// The slot that rows of nobody write to, behind all pages.
  std::int32_t spare_slot() const {
    return static_cast<std::int32_t>(std::ssize(sharers) * Operators::kPageTokens);
  }
  /// The sequence of an open handle. Throws Error for any other.
  Sequence& at(std::int32_t handle);
  /// A page held by one sequence. Throws Error if none is left.
  std::int32_t take_page();
  void release_page(std::int32_t page);
  /// Makes room for one more position; returns its slot, page * kPageTokens + place.
  std::int32_t append(Sequence& sequence);
};

}  // namespace lie
