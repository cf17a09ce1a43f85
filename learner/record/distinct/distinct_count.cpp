#include "learner/record/distinct/distinct_count.h"

#include <cmath>
#include <istream>
#include <ostream>

#include "common/base/error.h"

namespace lie {
namespace {

std::int64_t exact_limit(std::int64_t budget_bytes) {
  if (budget_bytes < 1 << 20)
    fail("distinct n-grams: a budget of {} bytes; expected at least 2^20", budget_bytes);
  const auto bytes = budget_bytes - static_cast<std::int64_t>(KeySet::kFixedBytes);
  return static_cast<std::int64_t>(static_cast<double>(bytes) / KeySet::kBytesPerKey);
}

}  // namespace

DistinctCount::DistinctCount(std::int64_t budget_bytes) : exact_limit_(exact_limit(budget_bytes)) {}

void DistinctCount::add(std::span<const StateKey> keys) {
  if (!sketch_) {
    keys_.add(keys);
    estimate_beyond_budget();
  } else {
    for (const StateKey& key : keys) sketch_->add(key.low);
  }
}

void DistinctCount::estimate_beyond_budget() {
  if (keys_.size() <= exact_limit_) return;
  sketch_.emplace();
  keys_.for_each_shard([&](std::span<const std::uint64_t> shard) {
    for (const std::uint64_t key : shard) sketch_->add(key);
  });
  keys_ = KeySet();
}

std::int64_t DistinctCount::count() const {
  return sketch_ ? std::llround(sketch_->estimate()) : keys_.size();
}

std::size_t DistinctCount::memory_bytes() const {
  return keys_.memory_bytes() + (sketch_ ? HyperLogLog::kBytes : 0);
}

void DistinctCount::clear() {
  keys_.clear();
  sketch_.reset();
}

void DistinctCount::write(std::ostream& out) const {
  const std::uint64_t kind = sketch_ ? 1 : 0;
  out.write(reinterpret_cast<const char*>(&kind), sizeof kind);
  sketch_ ? sketch_->write(out) : keys_.write(out);
}

void DistinctCount::read(std::istream& in) {
  clear();
  std::uint64_t kind = 0;
  in.read(reinterpret_cast<char*>(&kind), sizeof kind);
  if (kind == 1) {
    sketch_.emplace().read(in);
  } else if (kind == 0) {
    keys_.read(in);
  } else {
    in.setstate(std::ios::failbit);
  }
  estimate_beyond_budget();
}

}  // namespace lie
