#include "model/transformer/kv_cache.h"

#include <cstddef>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

static_assert(KvCache::kPageTokens == Operators::kPageTokens);

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

const KvCache::State::Sequence& KvCache::State::at(std::int32_t handle) const {
  if (handle < 0 || index(handle) >= sequences.size() || !sequences[index(handle)].open) {
    fail("KV cache: {} is not an open sequence", handle);
  }
  return sequences[index(handle)];
}

KvCache::State::Sequence& KvCache::State::at(std::int32_t handle) {
  return const_cast<Sequence&>(std::as_const(*this).at(handle));
}

std::int32_t KvCache::State::allocate_page() {
  if (free_pages.empty()) {
    fail(
        "KV cache: all {} pages of {} tokens are in use; increase its memory or run fewer "
        "sequences",
        users.size(), kPageTokens);
  }
  const std::int32_t page = free_pages.back();
  free_pages.pop_back();
  users[index(page)] = 1;
  return page;
}

void KvCache::State::release_page(std::int32_t page) {
  if (--users[index(page)] == 0) free_pages.push_back(page);
}

std::int32_t KvCache::State::append(Sequence& sequence) {
  const auto place = static_cast<std::int32_t>(sequence.length % kPageTokens);
  if (place == 0) sequence.pages.push_back(allocate_page());
  ++sequence.length;
  return sequence.pages.back() * static_cast<std::int32_t>(kPageTokens) + place;
}

KvCache::KvCache(const ModelConfig& config, Operators& operators, std::int64_t pages) {
  state_.operators = &operators;
  const std::int64_t scratch_pages = operators.place().is_host() ? 0 : 1;
  state_.pool =
      operators.allocate(pages + scratch_pages, page_elements(config), operators.packed_dtype());
  state_.users.assign(static_cast<std::size_t>(pages), 0);
  for (std::int64_t page = pages - 1; page >= 0; --page) {
    state_.free_pages.push_back(static_cast<std::int32_t>(page));
  }
}

std::int32_t KvCache::open() {
  if (state_.free_sequences.empty()) {
    state_.free_sequences.push_back(static_cast<std::int32_t>(state_.sequences.size()));
    state_.sequences.emplace_back();
  }
  const std::int32_t handle = state_.free_sequences.back();
  state_.free_sequences.pop_back();
  state_.sequences[index(handle)].open = true;
  return handle;
}

std::int32_t KvCache::fork(std::int32_t parent) {
  state_.at(parent);
  const std::int32_t handle = open();
  const State::Sequence& from = state_.at(parent);
  State::Sequence& to = state_.at(handle);
  to.pages = from.pages;
  to.length = from.length;
  for (const std::int32_t page : to.pages) ++state_.users[index(page)];
  if (to.length % kPageTokens == 0) return handle;
  // The child will write into its last page, so it needs a copy.
  const std::int32_t own = state_.allocate_page();
  state_.release_page(to.pages.back());
  const Tensor& pool = state_.pool.view();
  state_.operators->copy(pool.rows_at(to.pages.back(), 1), pool.rows_at(own, 1));
  to.pages.back() = own;
  return handle;
}

void KvCache::truncate(std::int32_t sequence, std::int64_t length) {
  State::Sequence& kept = state_.at(sequence);
  if (length > kept.length) {
    fail("KV cache: cannot truncate a sequence of {} positions to {}", kept.length, length);
  }
  for (; std::ssize(kept.pages) > pages_for(length); kept.pages.pop_back()) {
    state_.release_page(kept.pages.back());
  }
  if (length % kPageTokens != 0 && state_.users[index(kept.pages.back())] > 1) {
    fail("KV cache: cannot truncate a sequence of {} positions within a shared page", kept.length);
  }
  kept.length = length;
}

void KvCache::close(std::int32_t sequence) {
  State::Sequence& closed = state_.at(sequence);
  for (const std::int32_t page : closed.pages) state_.release_page(page);
  closed.pages.clear();
  closed.length = 0;
  closed.open = false;
  state_.free_sequences.push_back(sequence);
}

std::int64_t KvCache::length(std::int32_t sequence) const { return state_.at(sequence).length; }

std::int64_t KvCache::free_pages() const {
  return static_cast<std::int64_t>(state_.free_pages.size());
}

}  // namespace lie
