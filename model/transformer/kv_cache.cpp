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

std::int32_t KvCache::append(Sequence& sequence) {
  const auto place = static_cast<std::int32_t>(sequence.length % kPageTokens);
  if (place == 0) sequence.pages.push_back(allocate_page());
  ++sequence.length;
  return sequence.pages.back() * static_cast<std::int32_t>(kPageTokens) + place;
}

KvCache::KvCache(const ModelConfig& config, Operators& operators, std::int64_t pages)
    : operators_(operators) {
  const std::int64_t scratch_pages = operators.place().is_host() ? 0 : 1;
  pool_ =
      operators.allocate(pages + scratch_pages, page_elements(config), operators.packed_dtype());
  users_.assign(static_cast<std::size_t>(pages), 0);
  for (std::int64_t page = pages - 1; page >= 0; --page) {
    free_pages_.push_back(static_cast<std::int32_t>(page));
  }
}

std::int32_t KvCache::open() {
  if (free_sequences_.empty()) {
    free_sequences_.push_back(static_cast<std::int32_t>(sequences_.size()));
    sequences_.emplace_back();
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
  for (const std::int32_t page : to.pages) ++users_[index(page)];
  if (to.length % kPageTokens == 0) return handle;
  // The child will write into its last page, so it needs a copy.
  const std::int32_t own = allocate_page();
  release_page(to.pages.back());
  const Tensor& pool = pool_.view();
  operators_.copy(pool.rows_at(to.pages.back(), 1), pool.rows_at(own, 1));
  to.pages.back() = own;
  return handle;
}

void KvCache::truncate(std::int32_t sequence, std::int64_t length) {
  Sequence& kept = at(sequence);
  if (length > kept.length) {
    fail("KV cache: cannot truncate a sequence of {} positions to {}", kept.length, length);
  }
  for (; std::ssize(kept.pages) > pages_for(length); kept.pages.pop_back()) {
    release_page(kept.pages.back());
  }
  if (length % kPageTokens != 0 && users_[index(kept.pages.back())] > 1) {
    fail("KV cache: cannot truncate a sequence of {} positions within a shared page", kept.length);
  }
  kept.length = length;
}

void KvCache::close(std::int32_t sequence) {
  Sequence& closed = at(sequence);
  for (const std::int32_t page : closed.pages) release_page(page);
  closed.pages.clear();
  closed.length = 0;
  closed.open = false;
  free_sequences_.push_back(sequence);
}

}  // namespace lie
