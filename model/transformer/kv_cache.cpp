#include "model/transformer/kv_cache.h"

#include <cstddef>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

static_assert(KvCache::kPageTokens == Operators::kPageTokens);

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

const KvCache::Sequence& KvCache::at(std::int32_t handle) const {
  if (handle < 0 || index(handle) >= sequences_.size() || !sequences_[index(handle)].open) {
    fail("KV cache: {} is not an open sequence", handle);
  }
  return sequences_[index(handle)];
}

KvCache::Sequence& KvCache::at(std::int32_t handle) {
  return const_cast<Sequence&>(std::as_const(*this).at(handle));
}

std::int32_t KvCache::allocate_page() {
  if (free_pages_.empty()) {
    fail(
        "KV cache: all {} pages of {} tokens are in use; increase its memory or run fewer "
        "sequences",
        users_.size(), kPageTokens);
  }
  const std::int32_t page = free_pages_.back();
  free_pages_.pop_back();
  users_[index(page)] = 1;
  return page;
}

void KvCache::release_page(std::int32_t page) {
  if (--users_[index(page)] == 0) free_pages_.push_back(page);
}

/// Copies a page for a sequence that will write to it. The sequence no longer uses `page`.
std::int32_t KvCache::own_copy(std::int32_t page) {
  const std::int32_t own = allocate_page();
  release_page(page);
  const Tensor& pool = pool_.view();
  operators_.copy(pool.rows_at(page, 1), pool.rows_at(own, 1));
  return own;
}

void KvCache::append(Sequence& sequence) {
  if (sequence.length % kPageTokens == 0) {
    for (auto& pages : sequence.pages) pages.push_back(allocate_page());
  }
  ++sequence.length;
}

std::int32_t KvCache::last_slot(const Sequence& sequence, std::int64_t group) {
  const auto place = static_cast<std::int32_t>((sequence.length - 1) % kPageTokens);
  return sequence.pages[static_cast<std::size_t>(group)].back() *
             static_cast<std::int32_t>(kPageTokens) +
         place;
}

KvLayout kv_layout(const ModelConfig& config) {
  KvLayout layout;
  for (std::int64_t l = 0; l < config.layers; ++l) layout.places.push_back({0, l});
  return layout;
}

namespace {

std::int64_t scratch_pages(const Operators& operators) {
  return operators.place().is_host() ? 0 : 1;
}

/// Returns a tensor in memory that belongs to others.
Buffer buffer_in(Tensor memory, std::int64_t rows, std::int64_t cols, DType dtype) {
  const std::int64_t bytes = memory.elements() * dtype_bytes(memory.dtype);
  if (bytes < rows * cols * dtype_bytes(dtype)) {
    fail("KV cache: {} pages do not fit into {} bytes", rows, bytes);
  }
  return {{memory.data, rows, cols, cols, dtype}, Buffer::Owner(nullptr, [](void*) {})};
}

}  // namespace

std::int64_t KvCache::pool_bytes(const ModelConfig& config, const Operators& operators,
                                 std::int64_t pages) {
  return (pages + scratch_pages(operators)) * page_elements(config) *
         dtype_bytes(operators.packed_dtype());
}

KvCache::KvCache(const ModelConfig& config, KvLayout layout, Operators& operators,
                 std::int64_t pages, Tensor memory)
    : operators_(operators), layout_(std::move(layout)) {
  if (std::ssize(layout_.places) != config.layers ||
      layout_.layers_per_group() * layout_.groups != config.layers) {
    fail("KV cache: {} layers in {} groups for a model of {} layers", layout_.places.size(),
         layout_.groups, config.layers);
  }
  const std::int64_t all_pages = pages * layout_.groups;
  const std::int64_t rows = all_pages + scratch_pages(operators);
  const std::int64_t cols = page_elements(config) / layout_.groups;
  pool_ = memory.empty() ? operators.allocate(rows, cols, operators.packed_dtype())
                         : buffer_in(memory, rows, cols, operators.packed_dtype());
  users_.assign(static_cast<std::size_t>(all_pages), 0);
  for (std::int64_t page = all_pages - 1; page >= 0; --page) {
    free_pages_.push_back(static_cast<std::int32_t>(page));
  }
}

std::int32_t KvCache::open() {
  if (free_sequences_.empty()) {
    free_sequences_.push_back(static_cast<std::int32_t>(sequences_.size()));
    sequences_.emplace_back().pages.resize(static_cast<std::size_t>(layout_.groups));
  }
  const std::int32_t handle = free_sequences_.back();
  free_sequences_.pop_back();
  sequences_[index(handle)].open = true;
  return handle;
}

std::int32_t KvCache::fork(std::int32_t parent) {
  at(parent);
  const std::int32_t handle = open();
  const Sequence& from = at(parent);
  Sequence& to = at(handle);
  to.pages = from.pages;
  to.length = from.length;
  for (const auto& pages : to.pages) {
    for (const std::int32_t page : pages) ++users_[index(page)];
  }
  if (to.length % kPageTokens == 0) return handle;
  for (auto& pages : to.pages) pages.back() = own_copy(pages.back());
  return handle;
}

void KvCache::truncate(std::int32_t sequence, std::int64_t length) {
  Sequence& kept = at(sequence);
  if (length > kept.length) {
    fail("KV cache: cannot truncate a sequence of {} positions to {}", kept.length, length);
  }
  for (auto& pages : kept.pages) {
    for (; std::ssize(pages) > pages_for(length); pages.pop_back()) release_page(pages.back());
    if (length % kPageTokens != 0 && users_[index(pages.back())] > 1) {
      fail("KV cache: cannot truncate a sequence of {} positions within a shared page",
           kept.length);
    }
  }
  kept.length = length;
}

void KvCache::close(std::int32_t sequence) {
  Sequence& closed = at(sequence);
  for (auto& pages : closed.pages) {
    for (const std::int32_t page : pages) release_page(page);
    pages.clear();
  }
  closed.length = 0;
  closed.open = false;
  free_sequences_.push_back(sequence);
}

}  // namespace lie
