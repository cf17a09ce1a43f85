// The paged KV cache. Sequences that begin with the same prompt share its pages. A page holds
// positions of one group of layers, so that groups can free pages at different times.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/model_config.h"
#include "model/operators/operators.h"

namespace lie {

/// How layers share pages. Groups have equally many layers, so all pages have one size.
struct KvLayout {
  struct Place {
    std::int64_t group = 0;
    std::int64_t layer = 0;  // index within the group
    bool operator==(const Place&) const = default;
  };
  std::vector<Place> places;  // [L]
  std::int64_t groups = 1;
  std::int64_t layers_per_group() const { return std::ssize(places) / groups; }
};

/// Returns the layout of a model: one group of all layers, since each of them attends to all
/// positions.
KvLayout kv_layout(const ModelConfig& config);

/// The keys and values of all sequences in flight, in pages of kPageTokens positions.
class KvCache {
 public:
  static constexpr std::int64_t kPageTokens = 16;

  /// Allocates `pages` pages for each group of layers. On a device it allocates one more page, the
  /// scratch page of padding rows. Throws Error with the bytes requested if the allocation fails.
  /// With `memory`, of at least pool_bytes(), it uses that instead; it must outlive the cache.
  KvCache(const ModelConfig& config, Operators& operators, std::int64_t pages, Tensor memory = {})
      : KvCache(config, kv_layout(config), operators, pages, memory) {}
  /// As above with layers grouped by `layout`. Throws Error unless it places all layers of the
  /// model in groups of one size.
  KvCache(const ModelConfig& config, KvLayout layout, Operators& operators, std::int64_t pages,
          Tensor memory = {});
  /// Returns the bytes of the pages, for a model whose layers are in one group.
  static std::int64_t pool_bytes(const ModelConfig& config, const Operators& operators,
                                 std::int64_t pages);

  std::int32_t open();
  /// Returns the handle of a new sequence that begins with all positions of `parent`. Full pages
  /// are shared. A last page that is not full is copied.
  std::int32_t fork(std::int32_t parent);
  /// Truncates the sequence to `length` positions. Throws Error if it has fewer. Also throws if the
  /// new last page would not be full and is shared, since the next position would be written there.
  void truncate(std::int32_t sequence, std::int64_t length);
  /// Closes the handle and frees the pages that no other sequence shares.
  void close(std::int32_t sequence);

  std::int64_t length(std::int32_t sequence) const { return at(sequence).length; }  // positions
  /// Returns the number of pages that every group can still allocate.
  std::int64_t free_pages() const { return std::ssize(free_pages_) / layout_.groups; }
  /// Returns the number of elements of kPageTokens positions over all layers. Their type is the
  /// operators' packed_dtype().
  static std::int64_t page_elements(const ModelConfig& config) {
    return config.layers * 2 * kPageTokens * config.kv_heads * config.head_width;
  }
  static std::int64_t pages_for(std::int64_t tokens) {
    return (tokens + kPageTokens - 1) / kPageTokens;
  }

  // ---- For Transformer

  const KvLayout& layout() const { return layout_; }
  struct Sequence {
    std::vector<std::vector<std::int32_t>> pages;  // [groups]
    std::int64_t length = 0;
    bool open = false;
  };
  /// Returns the sequence of an open handle. Throws Error for any other handle.
  Sequence& at(std::int32_t handle);
  const Sequence& at(std::int32_t handle) const;
  /// Adds one position to the sequence, with a new page of each group if necessary.
  void append(Sequence& sequence);
  /// Returns the slot of the sequence's last position in a group's page: page * kPageTokens + the
  /// place in the page.
  static std::int32_t last_slot(const Sequence& sequence, std::int64_t group);
  /// Returns the slot that padding rows write to, in the scratch page after all other pages.
  std::int32_t scratch_slot() const {
    return static_cast<std::int32_t>(std::ssize(users_) * kPageTokens);
  }
  /// Returns the memory [pages, layers_per_group * 2 * kPageTokens * K * E], plus the scratch page
  /// on a device.
  Tensor pool() const { return pool_.view(); }

 private:
  /// Allocates a page for one sequence. Throws Error if no page is free.
  std::int32_t allocate_page();
  void release_page(std::int32_t page);
  std::int32_t own_copy(std::int32_t page);

  Operators& operators_;
  KvLayout layout_;
  Buffer pool_;
  std::vector<std::int32_t> free_pages_;      // a stack: the last is allocated first
  std::vector<std::int32_t> users_;           // [pages] number of sequences that use the page
  std::vector<Sequence> sequences_;           // by handle
  std::vector<std::int32_t> free_sequences_;  // handles that can be reused
};

}  // namespace lie
