// A group that counts its exchanges.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "common/comm/collective/collective.h"

namespace lie::test {

/// Passes everything on to `group`, which must outlive it.
class CountingGroup : public Collective {
 public:
  explicit CountingGroup(Collective& group) : group_(group) {}
  /// Returns the number of calls of exchange() and start_exchange().
  int exchanges() const { return exchanges_; }
  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    group_.broadcast_bytes(bytes, root);
  }
  void all_reduce_sum(DeviceSpan values) override { group_.all_reduce_sum(values); }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    ++exchanges_;
    group_.exchange(out, in);
  }
  std::unique_ptr<StartedExchange> start_exchange(std::span<const DeviceSpan> out,
                                                  std::span<const DeviceSpan> in) override {
    ++exchanges_;
    return group_.start_exchange(out, in);
  }

 private:
  Collective& group_;
  int exchanges_ = 0;
};

}  // namespace lie::test
