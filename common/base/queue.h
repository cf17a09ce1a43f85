// A bounded queue between two role threads of one process: the transport of one-rank runs.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/base/stream.h"

namespace lie {

/// A first-in, first-out queue. One thread sends and closes, and one thread receives. Any thread
/// may poison the queue.
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

  void poison(const std::string& why) { poison(std::make_exception_ptr(Error(why))); }

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
