// Typed streams between ranks. The last message of each sender to each receiver is a close message.
// A receiver's stream ends when all of its senders have closed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/stream.h"
#include "common/comm/mailbox.h"
#include "common/comm/wire.h"

namespace lie {

/// Messages that a sender may have posted, and their receivers have not received, before it blocks.
inline constexpr std::size_t kMessagesInFlight = 16;
/// Messages that a queue between two threads holds before its sender blocks.
inline constexpr std::size_t kQueuedMessages = 64;

inline std::size_t group_of(const RolloutGroup& fragment) {
  return static_cast<std::size_t>(fragment.ticket.group);
}
inline std::size_t group_of(const ScoredGroup& group) { return group_of(group.rollout); }

/// Returns the rank that receives a fragment or group. It depends on the group number only, so all
/// fragments of a group reach the same receiver, whichever ranks send them.
template <typename T>
int receiver_of(const T& value, const std::vector<int>& receivers) {
  return receivers[group_of(value) % receivers.size()];
}

/// Sends values to one or several ranks, each to its receiver_of(). T is a type that
/// wire::pack accepts and that has a group_of().
template <typename T>
class MpiSink : public Sink<T> {
 public:
  MpiSink(Job& job, Tag tag, std::vector<int> receivers)
      : outbox_(job), tag_(tag), receivers_(std::move(receivers)) {
    if (receivers_.empty()) fail("a sink needs a rank to send to");
  }

  /// Blocks only while more than kMessagesInFlight messages are in flight, and polls the job's
  /// progress meanwhile.
  void send(T value) override {
    outbox_.drain(kMessagesInFlight);
    outbox_.post(receiver_of(value, receivers_), tag_, wire::pack(value));
  }

  /// Blocks until every message has been received, and polls the job's progress meanwhile.
  void close() override {
    const auto last = std::make_shared<const Bytes>(wire::pack_close());
    for (const int receiver : receivers_) outbox_.post(receiver, tag_, last);
    outbox_.drain(0);
  }

 private:
  Outbox outbox_;
  Tag tag_;
  std::vector<int> receivers_;
};

/// Receives the values that `senders` MpiSinks of the same tag send to this rank.
template <typename T>
class MpiSource : public PollableSource<T> {
 public:
  MpiSource(Job& job, Tag tag, int senders) : inbox_(job, tag), open_senders_(senders) {}

  std::optional<T> receive() override {
    while (open_senders_ > 0) {
      if (std::optional<T> value = unpack_value(inbox_.receive())) return value;
    }
    return std::nullopt;
  }

  std::optional<T> try_receive() override {
    while (open_senders_ > 0) {
      const std::optional<Message> message = inbox_.try_receive();
      if (!message) return std::nullopt;
      if (std::optional<T> value = unpack_value(*message)) return value;
    }
    return std::nullopt;
  }

 private:
  std::optional<T> unpack_value(const Message& message) {
    if (!wire::is_close(message.bytes)) return wire::unpack<T>(message.bytes);
    --open_senders_;
    return std::nullopt;
  }

  Inbox inbox_;
  int open_senders_;
};

}  // namespace lie
