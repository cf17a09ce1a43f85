// The transport as a role sees it: sources and sinks of values, and a bounded queue between two
// role threads of one process, which is both: the transport of one-rank runs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "common/base/error.h"

namespace lie {

/// A stream that a role receives values from. One thread per source.
template <typename T>
class Source {
 public:
  virtual ~Source() = default;
  /// Returns the next value, and blocks until it arrives. Empty after the other side has closed the
  /// stream. Throws Error when the job is ending because another rank failed.
  virtual std::optional<T> receive() = 0;
};

/// A source that can be polled without blocking, for roles with several event sources.
template <typename T>
class PollableSource : public Source<T> {
 public:
  /// Returns the next value if one has arrived. Never blocks.
  virtual std::optional<T> try_receive() = 0;
};

/// A stream that a role sends values to. One thread per sink.
template <typename T>
class Sink {
 public:
  virtual ~Sink() = default;
  /// Sends the value. Blocks only while the stream's buffer is full.
  virtual void send(T value) = 0;
  /// Ends the stream: no more values will be sent.
  virtual void close() = 0;
};

/// A first-in, first-out queue. Any threads send, one thread receives, and one closes after the
/// last value is sent. Any thread may poison the queue.
template <typename T>
class BoundedQueue final : public PollableSource<T>, public Sink<T> {
 public:
  /// `capacity`: number of values, at least 1, that send() queues before it waits for the receiver.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {
    if (capacity == 0) fail("a queue needs a capacity of at least 1");
  }

  std::optional<T> receive() override {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return poison_ || closed_ || !values_.empty(); });
    return take();
  }

  std::optional<T> try_receive() override {
    const std::lock_guard lock(mutex_);
    return take();
  }

  void send(T value) override {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return poison_ || closed_ || values_.size() < capacity_; });
    if (poison_) std::rethrow_exception(poison_);
    if (closed_) fail("a value was sent on a stream that is already closed");
    values_.push_back(std::move(value));
    not_empty_.notify_one();
  }

  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    wake_all();
  }

  /// Ends both sides: every waiting or later call throws `cause`. Values not yet received are
  /// dropped. Later causes are ignored (invariant E8).
  void poison(std::exception_ptr cause) {
    const std::lock_guard lock(mutex_);
    if (!poison_) poison_ = std::move(cause);
    wake_all();
  }

 private:
  std::optional<T> take() {
    if (poison_) std::rethrow_exception(poison_);
    if (values_.empty()) return std::nullopt;
    std::optional<T> value(std::move(values_.front()));
    values_.pop_front();
    not_full_.notify_one();
    return value;
  }

  void wake_all() {
    not_empty_.notify_all();
    not_full_.notify_all();
  }

  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_empty_, not_full_;
  std::deque<T> values_;
  bool closed_ = false;
  std::exception_ptr poison_;
};

}  // namespace lie
