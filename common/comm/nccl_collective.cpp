#include "common/comm/nccl_collective.h"

#include <cuda_runtime.h>
#include <nccl.h>

#include <string_view>

#include "common/comm/backoff.h"
#include "common/error.h"

namespace lie {
namespace {

void check(cudaError_t code, std::string_view what) {
  if (code != cudaSuccess) fail("CUDA, {}: {}", what, cudaGetErrorString(code));
}

void check(ncclResult_t code, std::string_view what) {
  if (code != ncclSuccess && code != ncclInProgress)
    fail("NCCL, {}: {}", what, ncclGetErrorString(code));
}

/// A stream of the current device that can wait for the work of another.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event");
  }
  ~Stream() {
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

  /// Work enqueued here from now on waits for all work enqueued on `other` so far.
  void follow(cudaStream_t other) {
    check(cudaEventRecord(event_, other), "marking the place in the compute stream");
    check(cudaStreamWaitEvent(stream_, event_, 0), "waiting for the compute stream");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

/// A non-blocking communicator: a member can leave it when another rank has failed.
class Communicator {
 public:
  Communicator(Job& job, const ncclUniqueId& id, int rank, int size) : job_(job) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(ncclCommInitRankConfig(&communicator_, size, id, rank, &config), "joining the group");
    settle("joining the group");
  }
  ~Communicator() {
    if (communicator_ != nullptr) ncclCommAbort(communicator_);  // all calls before it are complete
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  ncclComm_t get() const { return communicator_; }

  /// Waits, attending, until the calls so far have been accepted.
  void settle(std::string_view what) {
    ncclResult_t state = ncclInProgress;
    for (Backoff backoff;; backoff.pause()) {
      check(ncclCommGetAsyncError(communicator_, &state), what);
      check(state, what);
      if (state == ncclSuccess) return;
      job_.attend();
    }
  }

 private:
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
    case DType::kFloat32:
      return ncclFloat32;
    case DType::kBFloat16:
      return ncclBfloat16;
    case DType::kInt32:
      return ncclInt32;
    case DType::kFloat64:
      break;
  }
  return ncclFloat64;
}

class NcclCollective : public Collective {
 public:
  NcclCollective(Job& job, Collective& host, int device, cudaStream_t compute)
      : job_(job),
        host_(host),
        place_{device},
        compute_(compute),
        communicator_(job, shared_id(host), host.rank(), host.size()) {}

  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }

  void broadcast_bytes(std::span<std::byte> bytes, int root) override {
    host_.broadcast_bytes(bytes, root);
  }
  void broadcast(DeviceSpan values, int root) override {
    if (values.place.is_host()) return host_.broadcast(values, root);
    run("broadcast", values, [&](std::size_t count, ncclDataType_t type) {
      return ncclBroadcast(values.data, values.data, count, type, root, communicator_.get(),
                           stream_.get());
    });
  }
  void all_reduce_sum(DeviceSpan values) override {
    if (values.place.is_host()) return host_.all_reduce_sum(values);
    run("all-reduce", values, [&](std::size_t count, ncclDataType_t type) {
      return ncclAllReduce(values.data, values.data, count, type, ncclSum, communicator_.get(),
                           stream_.get());
    });
  }
  void reduce_scatter_sum(DeviceSpan whole, DeviceSpan slice) override {
    check_slices(*this, whole, slice);
    if (whole.place.is_host()) return host_.reduce_scatter_sum(whole, slice);
    check_place(whole);
    run("reduce-scatter", slice, [&](std::size_t count, ncclDataType_t type) {
      return ncclReduceScatter(whole.data, slice.data, count, type, ncclSum, communicator_.get(),
                               stream_.get());
    });
  }
  void all_gather(DeviceSpan slice, DeviceSpan whole) override {
    check_slices(*this, whole, slice);
    if (whole.place.is_host()) return host_.all_gather(slice, whole);
    check_place(whole);
    run("all-gather", slice, [&](std::size_t count, ncclDataType_t type) {
      return ncclAllGather(slice.data, whole.data, count, type, communicator_.get(), stream_.get());
    });
  }

 private:
  void check_place(DeviceSpan values) const {
    if (values.place == place_) return;
    fail("collective: {} elements lie on CUDA device {}, but this group's member is on device {}",
         values.count, values.place.device, place_.device);
  }

  /// Calls `start(count, type)` after all work enqueued on the compute stream, and waits.
  template <typename Start>
  void run(std::string_view what, DeviceSpan values, const Start& start) {
    check_place(values);
    stream_.follow(compute_);
    check(start(static_cast<std::size_t>(values.count), nccl_type(values.dtype)), what);
    finish(what);
  }

  /// Waits, attending, until the device has finished.
  void finish(std::string_view what) {
    communicator_.settle(what);
    for (Backoff backoff;; backoff.pause()) {
      const cudaError_t state = cudaStreamQuery(stream_.get());
      if (state == cudaSuccess) return;
      if (state != cudaErrorNotReady) check(state, what);
      job_.attend();
    }
  }

  Job& job_;
  Collective& host_;
  MemoryPlace place_;
  cudaStream_t compute_;
  Stream stream_;
  Communicator communicator_;
};

}  // namespace

std::unique_ptr<Collective> nccl_collective(Job& job, Collective& host, int device,
                                            void* compute_stream) {
  check(cudaSetDevice(device), "choosing the device");
  return std::make_unique<NcclCollective>(job, host, device,
                                          static_cast<cudaStream_t>(compute_stream));
}

}  // namespace lie
