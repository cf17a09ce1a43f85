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

/// A stream of the current device.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
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
  host.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
  return id;
}

class NcclCollective : public Collective {
 public:
  NcclCollective(Job& job, Collective& host)
      : job_(job),
        rank_(host.rank()),
        size_(host.size()),
        communicator_(job, shared_id(host), host.rank(), host.size()) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void broadcast(std::span<std::byte> bytes, int root) override {
    check(ncclBroadcast(bytes.data(), bytes.data(), bytes.size(), ncclUint8, root,
                        communicator_.get(), stream_.get()),
          "broadcast");
    finish("broadcast");
  }
  void all_reduce_sum(std::span<float> values) override {
    reduce(values.data(), values.size(), ncclFloat32);
  }
  void all_reduce_sum(std::span<double> values) override {
    reduce(values.data(), values.size(), ncclFloat64);
  }

 private:
  void reduce(void* values, std::size_t count, ncclDataType_t type) {
    check(ncclAllReduce(values, values, count, type, ncclSum, communicator_.get(), stream_.get()),
          "all-reduce");
    finish("all-reduce");
  }

  /// Waits, attending, until the device has done what was asked.
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
  int rank_;
  int size_;
  Stream stream_;
  Communicator communicator_;
};

}  // namespace

std::unique_ptr<Collective> nccl_collective(Job& job, Collective& host, int device) {
  check(cudaSetDevice(device), "choosing the device");
  return std::make_unique<NcclCollective>(job, host);
}

}  // namespace lie
