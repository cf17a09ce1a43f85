#include "common/comm/collective/thread_collective.h"

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::string_view kThreadGroup = "a group of threads";

}  // namespace

/// A barrier of the threads that can be poisoned, with the span that each thread contributes.
class ThreadGroup::Barrier {
 public:
  explicit Barrier(int size) : spans_(static_cast<std::size_t>(size)) {}

  int size() const { return static_cast<int>(spans_.size()); }
  std::span<std::byte>& span(int rank) { return spans_[static_cast<std::size_t>(rank)]; }

  /// Waits until all threads have called it.
  void wait() {
    std::unique_lock lock(mutex_);
    const std::size_t round = round_;
    if (++arrived_ == spans_.size()) {
      arrived_ = 0;
      ++round_;
      all_arrived_.notify_all();
    }
    all_arrived_.wait(lock, [&] { return poison_ || round_ != round; });
    if (poison_) std::rethrow_exception(poison_);
  }

  void poison(std::exception_ptr cause) {
    const std::lock_guard lock(mutex_);
    if (!poison_) poison_ = std::move(cause);
    all_arrived_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_arrived_;
  std::vector<std::span<std::byte>> spans_;  // by thread; others read them between two waits
  std::size_t arrived_ = 0, round_ = 0;
  std::exception_ptr poison_;
};

class ThreadGroup::Member : public Collective {
 public:
  Member(Barrier& barrier, int rank) : barrier_(barrier), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return barrier_.size(); }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    if (root < 0 || root >= size()) fail("broadcast from member {} of a group of {}", root, size());
    contribute(bytes);
    if (rank_ != root) copy(barrier_.span(root), bytes);
    barrier_.wait();
  }
  void broadcast(DeviceSpan values, int root) override {
    broadcast_bytes(host_bytes(values, kThreadGroup), root);
  }
  void all_reduce_sum(DeviceSpan values) override {
    check_host_sum(values.dtype, kThreadGroup);
    values.dtype == DType::kFloat64 ? reduce<double>(values) : reduce<float>(values);
  }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    check_exchange(*this, out, in);
    for (const DeviceSpan& span : out)
      host_bytes(span, kThreadGroup);  // throws before other threads wait
    std::vector<DeviceSpan> mine(out.begin(), out.end());
    contribute(std::as_writable_bytes(std::span(mine)));
    for (int member = 0; member < size(); ++member) {
      const DeviceSpan from = data<DeviceSpan>(member)[rank_];
      const DeviceSpan to = in[static_cast<std::size_t>(member)];
      if (from.bytes() != to.bytes()) {
        fail("collective: thread {} sends {} bytes to thread {}, which expects {}", member,
             from.bytes(), rank_, to.bytes());
      }
      copy(host_bytes(from, kThreadGroup), host_bytes(to, kThreadGroup));
    }
    barrier_.wait();
  }

 private:
  /// Makes this thread's bytes visible to the others. All must contribute the same number of bytes.
  void contribute(std::span<std::byte> bytes) {
    barrier_.span(rank_) = bytes;
    barrier_.wait();
    for (int other = 0; other < size(); ++other) {
      if (barrier_.span(other).size() != bytes.size()) {
        fail(
            "collective: thread {} contributed {} bytes, thread {} {}: the threads disagree on the "
            "order of calls",
            rank_, bytes.size(), other, barrier_.span(other).size());
      }
    }
  }
  static void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.data() != to.data() && !from.empty()) std::memcpy(to.data(), from.data(), from.size());
  }

  /// Adds this thread's share of the elements and writes the sums to all members.
  template <typename T>
  void reduce(DeviceSpan values) {
    contribute(host_bytes(values, kThreadGroup));
    const std::int64_t end = values.count * (rank_ + 1) / size();
    for (std::int64_t i = values.count * rank_ / size(); i < end; ++i) {
      const T sum = rank_order_sum<T>(i);
      for (int member = 0; member < size(); ++member) data<T>(member)[i] = sum;
    }
    barrier_.wait();
  }

  template <typename T>
  T rank_order_sum(std::int64_t element) {
    T sum = data<T>(0)[element];
    for (int member = 1; member < size(); ++member) sum += data<T>(member)[element];
    return sum;
  }

  template <typename T>
  T* data(int member) {
    return reinterpret_cast<T*>(barrier_.span(member).data());
  }

  Barrier& barrier_;
  int rank_;
};

ThreadGroup::ThreadGroup(int size) {
  if (size < 1) fail("a group needs at least one thread, not {}", size);
  barrier_ = std::make_unique<Barrier>(size);
}

ThreadGroup::~ThreadGroup() = default;

std::unique_ptr<Collective> ThreadGroup::member(int rank) {
  if (rank < 0 || rank >= barrier_->size())
    fail("no thread {} in a group of {}", rank, barrier_->size());
  return std::make_unique<Member>(*barrier_, rank);
}

void ThreadGroup::poison(std::exception_ptr cause) { barrier_->poison(std::move(cause)); }

}  // namespace lie
