// The implementation of KvCache, which the transformer also uses: the pages of each sequence.
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
  Buffer pool;  // [pages, L * 2 * kPageTokens * K * E], plus the scratch page on a device
  std::vector<std::int32_t> free_pages;      // a stack: the last is allocated first
  std::vector<std::int32_t> users;           // [pages] number of sequences that use the page
  std::vector<Sequence> sequences;           // by handle
  std::vector<std::int32_t> free_sequences;  // handles that can be reused

  /// Returns the slot that padding rows write to, in the scratch page after all other pages.
  std::int32_t scratch_slot() const {
    return static_cast<std::int32_t>(std::ssize(users) * Operators::kPageTokens);
  }
  /// Returns the sequence of an open handle. Throws Error for any other handle.
  Sequence& at(std::int32_t handle);
  /// Allocates a page for one sequence. Throws Error if no page is free.
  std::int32_t allocate_page();
  void release_page(std::int32_t page);
  /// Adds one position to the sequence, with a new page if necessary. Returns its slot, which is
  /// page * kPageTokens + the place in the page.
  std::int32_t append(Sequence& sequence);
};

}  // namespace lie
