#include "common/comm/collective/nccl_collective.h"

#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <array>
#include <exception>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/comm/backoff.h"

namespace lie {
namespace {

void check(cudaError_t code, std::string_view what) {
  if (code != cudaSuccess)
    throw TransientError(fmt::format("CUDA, {}: {}", what, cudaGetErrorString(code)));
}

bool failed(ncclResult_t code) { return code != ncclSuccess && code != ncclInProgress; }
void check(ncclResult_t code, std::string_view what) {
  if (failed(code))
    throw TransientError(fmt::format("NCCL, {}: {}", what, ncclGetErrorString(code)));
}

/// Ends the job if an operation takes longer than Job::collective_limit(). A kernel that hangs, or
/// a link that is down, would hold the job until its time limit. Joining and leaving a group have
/// no limit, because members may still load weights or write files.
class OperationLimit {
 public:
  OperationLimit(const Job& job, std::string_view what)
      : seconds_(job.collective_limit()), what_(what) {}

  void check() const {
    if (seconds_ <= 0 || watch_.seconds() < seconds_) return;
    throw TransientError(fmt::format(
        "NCCL, {}: not complete after {:.3g} minutes (collective_time_limit_minutes): a GPU or the "
        "network between the members hangs; look at the other members' hosts",
        what_, seconds_ / 60));
  }

 private:
  double seconds_;
  std::string_view what_;
  Stopwatch watch_;
};

/// An event of the current device.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of the current device that can wait for the work of another stream.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

  /// Makes work enqueued here from now on wait for all work enqueued on `other` so far.
  void follow(cudaStream_t other) {
    check(cudaEventRecord(event_.get(), other), "recording an event in the compute stream");
    check(cudaStreamWaitEvent(stream_, event_.get(), 0), "waiting for the compute stream");
  }

 private:
  cudaStream_t stream_ = nullptr;
  Event event_;
};

/// A non-blocking communicator, which a member can leave when another rank has failed. Call
/// settle() before its first use.
class Communicator {
 public:
  Communicator(Job& job, const ncclUniqueId& id, int rank, int size) : job_(job) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&communicator_, size, id, rank, &config), "joining the group");
  }
  ~Communicator() {
    if (communicator_ == nullptr) return;
    finalized() ? ncclCommDestroy(communicator_) : ncclCommAbort(communicator_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  ncclComm_t get() const { return communicator_; }

  /// Waits until NCCL has accepted the calls so far, and polls the job's progress meanwhile.
  void settle(std::string_view what, const OperationLimit* limit = nullptr) {
    ncclResult_t state = ncclInProgress;
    for (Backoff backoff;; backoff.pause()) {
      check(ncclCommGetAsyncError(communicator_, &state), what);
      check(state, what);
      if (state == ncclSuccess) return;
      job_.poll_progress();
      if (limit != nullptr) limit->check();
    }
  }

 private:
  /// Returns whether the communicator was finalized, so that all sent data has arrived. An abort is
  /// for failures only. It cancels data that NCCL's threads still send after this device has
  /// finished, and a slower member would wait for that data forever.
  bool finalized() {
    if (std::uncaught_exceptions() > 0) return false;
    try {
      check(ncclCommFinalize(communicator_), "leaving the group");
      settle("leaving the group");
      return true;
    } catch (const std::exception&) {  // another rank has failed and reports it
      return false;
    }
  }

  Job& job_;
  ncclComm_t communicator_ = nullptr;
};

ncclUniqueId shared_id(Collective& host) {
  ncclUniqueId id{};
  if (host.rank() == 0) check(ncclGetUniqueId(&id), "making an identifier");
  host.broadcast_bytes(std::as_writable_bytes(std::span(&id, 1)), 0);
  return id;
}

ncclDataType_t nccl_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return ncclFloat32;
    case DType::kBFloat16: return ncclBfloat16;
    case DType::kInt32: return ncclInt32;
    case DType::kFloat64: break;
  }
  return ncclFloat64;
}

class NcclCollective : public Collective {
 public:
  NcclCollective(Job& job, std::unique_ptr<Collective> host, int device, cudaStream_t compute)
      : job_(job),
        host_(std::move(host)),
        place_{device},
        compute_(compute),
        communicator_(job, shared_id(*host_), host_->rank(), host_->size()) {
    communicator_.settle("joining the group");  // throws if another rank fails meanwhile
  }

  int rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    host_->broadcast_bytes(bytes, root);
  }
  void broadcast_as_bfloat16(DeviceSpan values, int root) override {
    host_->broadcast_as_bfloat16(values, root);
  }
  void broadcast(DeviceSpan values, int root) override {
    if (values.place.is_host()) return host_->broadcast(values, root);
    run("broadcast", values, [&](std::size_t count, ncclDataType_t type) {
      return ncclBroadcast(values.data, values.data, count, type, root, communicator_.get(),
                           stream_.get());
    });
  }
  void all_reduce_sum(DeviceSpan values) override {
    if (values.place.is_host()) return host_->all_reduce_sum(values);
    run("all-reduce", values, [&](std::size_t count, ncclDataType_t type) {
      return ncclAllReduce(values.data, values.data, count, type, ncclSum, communicator_.get(),
                           stream_.get());
    });
  }
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override {
    start_exchange(out, in)->wait();
  }
  /// The host waits in wait() only, so that it can enqueue more work on the compute stream first.
  /// It polls there, since an event that the compute stream waits for would hide a member that
  /// hangs.
  std::unique_ptr<StartedExchange> start_exchange(std::span<const DeviceSpan> out,
                                                  std::span<const DeviceSpan> in) override {
    check_exchange(*this, out, in);
    if (are_on_host(out) && are_on_host(in)) return host_->start_exchange(out, in);
    for (const auto& spans : {out, in}) {
      for (const DeviceSpan& span : spans) {
        if (span.count > 0) check_place(span);
      }
    }
    follow_compute();
    copy_own(out[static_cast<std::size_t>(rank())], in[static_cast<std::size_t>(rank())]);
    check(enqueue_exchange(out, in), "exchange");
    const OperationLimit limit(job_, "exchange");
    communicator_.settle("exchange", &limit);
    return std::make_unique<Exchange>(*this);
  }

 private:
  /// Waits for the work of this group that was enqueued before it.
  struct Exchange : StartedExchange {
    explicit Exchange(NcclCollective& all) : group(all) {
      check(cudaEventRecord(done.get(), group.stream_.get()), "recording the end of an exchange");
    }
    void wait() override {
      group.finish("exchange", [&] { return cudaEventQuery(done.get()); });
    }
    NcclCollective& group;
    Event done;
  };

  void check_place(DeviceSpan values) const {
    if (values.place == place_) return;
    fail("collective: {} elements are on CUDA device {}, but this group's member is on device {}",
         values.count, values.place.device, place_.device);
  }

  static bool are_on_host(std::span<const DeviceSpan> spans) {
    return std::ranges::all_of(
        spans, [](const DeviceSpan& span) { return span.count == 0 || span.place.is_host(); });
  }
  void copy_own(DeviceSpan from, DeviceSpan to) const {
    if (from.data == to.data || from.count == 0) return;
    check(cudaMemcpyAsync(to.data, from.data, static_cast<std::size_t>(from.bytes()),
                          cudaMemcpyDeviceToDevice, stream_.get()),
          "copying a member's own part");
  }
  /// Starts all pairs as one NCCL group. Started one after another, sends and receives would wait
  /// for each other. After an error the group is ended, too, so that NCCL can abort its members.
  ncclResult_t enqueue_exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) {
    check(ncclGroupStart(), "exchange");
    ncclResult_t state = ncclSuccess;
    for (int member = 0; member < size(); ++member) {
      if (member == rank()) continue;
      const DeviceSpan to = out[static_cast<std::size_t>(member)];
      const DeviceSpan from = in[static_cast<std::size_t>(member)];
      if (to.count > 0 && !failed(state)) state = start(ncclSend, to, member);
      if (from.count > 0 && !failed(state)) state = start(ncclRecv, from, member);
    }
    const ncclResult_t end = ncclGroupEnd();
    return failed(state) ? state : end;
  }
  ncclResult_t start(const auto& call, DeviceSpan span, int member) {
    return call(span.data, static_cast<std::size_t>(span.count), nccl_type(span.dtype), member,
                communicator_.get(), stream_.get());
  }

  /// Makes work that is enqueued on stream_ from here on wait for all work on the compute stream so
  /// far.
  void follow_compute() {
    // LibTorch restores the device that it found, and the null stream belongs to the current
    // device.
    check(cudaSetDevice(place_.device), "choosing the device");
    stream_.follow(compute_);
  }

  /// Calls `start(count, type)` after all work enqueued on the compute stream, and waits for the
  /// result.
  template <typename Start>
  void run(std::string_view what, DeviceSpan values, const Start& start) {
    check_place(values);
    follow_compute();
    check(start(static_cast<std::size_t>(values.count), nccl_type(values.dtype)), what);
    finish(what, [&] { return cudaStreamQuery(stream_.get()); });
  }

  /// Waits until `query` says that the device has finished, and polls the job's progress meanwhile.
  template <typename Query>
  void finish(std::string_view what, const Query& query) {
    const OperationLimit limit(job_, what);
    communicator_.settle(what, &limit);
    for (Backoff backoff;; backoff.pause()) {
      const cudaError_t state = query();
      if (state == cudaSuccess) return;
      if (state != cudaErrorNotReady) check(state, what);
      cudaGetLastError();  // clears "not ready", which the next kernel launch would report
      job_.poll_progress();
      limit.check();
    }
  }

  Job& job_;
  std::unique_ptr<Collective> host_;
  MemoryPlace place_;
  cudaStream_t compute_;
  Stream stream_;
  Communicator communicator_;
};

}  // namespace

std::string gpu_bus_address(int device) {
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device),
        "getting a device's address");
  return address.data();
}

std::unique_ptr<Collective> nccl_collective(Job& job, std::unique_ptr<Collective> host, int device,
                                            void* compute_stream) {
  check(cudaSetDevice(device), "choosing the device");
  return std::make_unique<NcclCollective>(job, std::move(host), device,
                                          static_cast<cudaStream_t>(compute_stream));
}

}  // namespace lie
