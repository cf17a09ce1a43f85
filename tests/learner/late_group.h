// A group of one learner whose exchanges are in progress until they are waited for, for tests of
// what overlaps an exchange.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/collective/collective.h"

namespace lie::test {

/// Notes "<name> start" and "<name> wait" in `events`, which must outlive it. Exchanges nothing.
class LateGroup : public Collective {
 public:
  LateGroup(std::vector<std::string>& events, std::string name)
      : events_(events), name_(std::move(name)) {}
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast_bytes(std::span<std::byte>, int) override {}
  void all_reduce_sum(DeviceSpan) override {}
  void exchange(std::span<const DeviceSpan>, std::span<const DeviceSpan>) override {}
  std::unique_ptr<StartedExchange> start_exchange(std::span<const DeviceSpan>,
                                                  std::span<const DeviceSpan>) override {
    events_.push_back(name_ + " start");
    return std::make_unique<Late>(*this);
  }

 private:
  struct Late : StartedExchange {
    explicit Late(LateGroup& all) : group(all) {}
    void wait() override { group.events_.push_back(group.name_ + " wait"); }
    LateGroup& group;
  };
  std::vector<std::string>& events_;
  std::string name_;
};

}  // namespace lie::test
