#include "common/comm/collective/thread_collective.h"

#include <cstring>
#include <utility>

#include "common/base/error.h"
#include "common/comm/backoff.h"

namespace lie {

class ThreadGroup::Member : public Collective {
 public:
  Member(ThreadGroup& group, int rank, std::function<void()> poll_progress)
      : group_(group), rank_(rank), poll_progress_(std::move(poll_progress)) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_.spans_.size()); }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    if (root < 0 || root >= size()) fail("broadcast from member {} of a group of {}", root, size());
    contribute(bytes);
    if (rank_ != root) copy(span(root), bytes);
    group_.wait();
  }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    check_exchange(*this, out, in);
    for (const DeviceSpan& span : out) host_bytes(span);  // throws before other threads wait
    std::vector<DeviceSpan> mine(out.begin(), out.end());
    contribute(std::as_writable_bytes(std::span(mine)));
    for (int member = 0; member < size(); ++member) {
      const DeviceSpan from = reinterpret_cast<const DeviceSpan*>(span(member).data())[rank_];
      const DeviceSpan to = in[static_cast<std::size_t>(member)];
      if (from.bytes() != to.bytes()) {
        fail("collective: thread {} sends {} bytes to thread {}, which expects {}", member,
             from.bytes(), rank_, to.bytes());
      }
      copy(host_bytes(from), host_bytes(to));
    }
    group_.wait();
  }

 private:
  /// Makes this thread's bytes visible to the others. All must contribute the same number of bytes.
  void contribute(std::span<std::byte> bytes) {
    span(rank_) = bytes;
    group_.wait(poll_progress_);
    for (int other = 0; other < size(); ++other) {
      if (span(other).size() != bytes.size()) {
        fail(
            "collective: thread {} contributed {} bytes, thread {} {}: the threads disagree on the "
            "order of calls",
            rank_, bytes.size(), other, span(other).size());
      }
    }
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.data() != to.data() && !from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }

  std::span<std::byte>& span(int rank) { return group_.spans_[static_cast<std::size_t>(rank)]; }

  ThreadGroup& group_;
  int rank_;
  std::function<void()> poll_progress_;
};

std::unique_ptr<Collective> ThreadGroup::member(int rank, std::function<void()> poll_progress) {
  const int size = static_cast<int>(spans_.size());
  if (rank < 0 || rank >= size) fail("no thread {} in a group of {}", rank, size);
  return std::make_unique<Member>(*this, rank, std::move(poll_progress));
}

/// Waits until all threads have called it. Calls `poll_progress` meanwhile, if there is one.
void ThreadGroup::wait(const std::function<void()>& poll_progress) {
  std::unique_lock lock(mutex_);
  const std::size_t round = round_;
  if (++arrived_ == spans_.size()) {
    arrived_ = 0;
    ++round_;
    all_arrived_.notify_all();
  }
  if (poll_progress) {
    lock.unlock();
    poll_until(round, poll_progress);
    lock.lock();
  }
  all_arrived_.wait(lock, [&] { return poison_ || round_ != round; });
  if (poison_) std::rethrow_exception(poison_);
}

/// Polls until the round is over. A failure poisons the group unless the round is over by then,
/// because other threads may already read this one's memory.
void ThreadGroup::poll_until(std::size_t round, const std::function<void()>& poll_progress) {
  const auto is_over = [&] {
    const std::lock_guard lock(mutex_);
    return poison_ || round_ != round;
  };
  try {
    for (Backoff backoff; !is_over(); backoff.pause()) poll_progress();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!poison_ && round_ == round) poison_ = std::current_exception();
    all_arrived_.notify_all();
  }
}

void ThreadGroup::poison(std::exception_ptr cause) {
  const std::lock_guard lock(mutex_);
  if (!poison_) poison_ = std::move(cause);
  all_arrived_.notify_all();
}

}  // namespace lie
