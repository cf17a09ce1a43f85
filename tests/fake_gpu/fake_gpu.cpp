#include "tests/fake_gpu/fake_gpu.h"

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

/// Pieces of work in order. Each piece is called until it returns true, which means done.
struct CUstream_st {
  using Work = std::function<bool()>;
  std::deque<Work> work;

  void advance() {
    while (!work.empty() && work.front()()) work.pop_front();
  }
};

struct CUevent_st {
  std::shared_ptr<bool> happened = std::make_shared<bool>(true);
};

/// Messages of one communicator. They have memory of their own, which outlives an abort.
struct Messages {
  std::vector<MPI_Request> requests;
  std::deque<std::vector<char>> memory;

  void send(int to, int tag, const void* data, std::size_t bytes) {
    const char* const first = static_cast<const char*>(data);
    const auto& sent = memory.emplace_back(first, first + bytes);
    MPI_Isend(sent.data(), static_cast<int>(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD,
              &requests.emplace_back());
  }
  /// Posts a receipt and returns its memory, which is filled once done() returns true.
  const std::vector<char>& receive(int from, int tag, std::size_t bytes) {
    auto& received = memory.emplace_back(bytes);
    MPI_Irecv(received.data(), static_cast<int>(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD,
              &requests.emplace_back());
    return received;
  }
  bool done() {
    int all = 0;
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    return all != 0;
  }
};

struct ncclComm {
  enum class State { kJoining, kReady, kLeaving, kLeft, kGone };
  int rank = 0, size = 0;
  int tag = 0;  // of all its messages; equal on all members, which make communicators in one order
  State state = State::kJoining;
  int polls = 0;  // left until the calls so far are accepted
  std::vector<std::pair<cudaStream_t, CUstream_st::Work>> accepted_later;
  Messages messages;

  void meet() {  // exchanges an empty message with every other member
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      messages.send(other, tag, nullptr, 0);
      messages.receive(other, tag, 0);
    }
  }
};

namespace lie::fake_gpu {
namespace {

constexpr int kFirstTag = 20000;  // the program uses lower ones

/// A send, or a receipt whose values take() copies to their destination.
struct Part {
  int peer;
  std::size_t bytes;
  const void* sent;  // null: a receipt
  std::function<void(const char*)> take;
};

struct World {
  std::pair<std::string, int> failure;
  cudaError_t last_error = cudaSuccess;
  int device = 0, polls_in_progress = 0;
  std::string bus_address = "0000:00:00.0";
  std::map<int, CUstream_st> default_streams;  // by device
  std::set<cudaStream_t> streams;
  std::vector<std::unique_ptr<ncclComm>> communicators;
  bool grouping = false;
  std::vector<Part> group;
  std::pair<ncclComm_t, cudaStream_t> group_of;
  Usage usage;
};
World& world() {
  static World* const all = new World;
  return *all;
}

/// Returns the code of the failure that the test requested here, otherwise 0.
int failure_of(std::string_view function) {
  auto& [name, code] = world().failure;
  if (name != function) return 0;
  name.clear();
  return code;
}
cudaError_t cuda(std::string_view function) {
  const auto code = static_cast<cudaError_t>(failure_of(function));
  if (code != cudaSuccess) world().last_error = code;
  return code;
}
ncclResult_t nccl(std::string_view function) {
  return static_cast<ncclResult_t>(failure_of(function));
}

const char* name_of(int code) {
  static char name[16];
  std::snprintf(name, sizeof name, "code %d", code);
  return name;
}

CUstream_st& stream_of(cudaStream_t stream) {
  return stream == nullptr ? world().default_streams[world().device] : *stream;
}
void advance_all() {
  for (auto& [device, stream] : world().default_streams) stream.advance();
  for (const cudaStream_t stream : world().streams) stream->advance();
}

std::size_t bytes_of(std::size_t count, ncclDataType_t type) {
  return count * (type == ncclFloat64 ? 8 : type == ncclBfloat16 ? 2 : 4);
}

/// Enqueues an operation of NCCL as soon as the communicator accepts it.
ncclResult_t start(ncclComm_t comm, cudaStream_t stream, CUstream_st::Work work) {
  if (comm->state != ncclComm::State::kReady) return ncclInvalidUsage;
  ++world().usage.operations;
  comm->polls = world().polls_in_progress;
  comm->accepted_later.emplace_back(stream, std::move(work));
  return ncclInProgress;
}

/// Returns work that sends and receives.
CUstream_st::Work transfer(ncclComm_t comm, std::vector<Part> parts) {
  std::vector<const char*> received;  // by part, empty until the work has begun
  return [comm, parts = std::move(parts), received]() mutable {
    Messages& messages = comm->messages;
    for (std::size_t i = received.size(); i < parts.size(); ++i) {
      const Part& part = parts[i];
      if (part.sent != nullptr) messages.send(part.peer, comm->tag, part.sent, part.bytes);
      received.push_back(part.sent != nullptr
                             ? nullptr
                             : messages.receive(part.peer, comm->tag, part.bytes).data());
    }
    if (!messages.done()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (received[i] != nullptr) parts[i].take(received[i]);
    }
    return true;
  };
}
Part receipt(int peer, void* to, std::size_t bytes) {
  return {peer, bytes, nullptr, [=](const char* from) { std::memcpy(to, from, bytes); }};
}

template <typename T>
void add(void* to, const char* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<T*>(to)[i] += reinterpret_cast<const T*>(from)[i];
  }
}

}  // namespace

void fail_next(const std::string& function, int code) { world().failure = {function, code}; }
bool has_failed() { return world().failure.first.empty(); }
void set_polls_in_progress(int polls) { world().polls_in_progress = polls; }
void enqueue(int device, int polls, std::function<void()> work) {
  world().device = device + 1;
  world().default_streams[device].work.push_back([polls, work = std::move(work)]() mutable {
    if (polls-- > 0) return false;
    work();
    return true;
  });
}
void set_bus_address(const std::string& address) { world().bus_address = address; }
void wait_until_others_join() {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int other = 0; other < size; ++other) {  // the message of ncclComm::meet()
    if (other != rank) MPI_Probe(other, kFirstTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
Usage usage() {
  Usage all = world().usage;
  all.communicators = static_cast<int>(world().communicators.size());
  return all;
}

}  // namespace lie::fake_gpu

using namespace lie::fake_gpu;

extern "C" {

// ---- CUDA

const char* cudaGetErrorString(cudaError_t code) { return name_of(code); }
cudaError_t cudaGetLastError() { return std::exchange(world().last_error, cudaSuccess); }
cudaError_t cudaSetDevice(int device) {
  if (const auto code = cuda(__func__)) return code;
  world().device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* to, int bytes, int) {
  if (const auto code = cuda(__func__)) return code;
  std::snprintf(to, static_cast<std::size_t>(bytes), "%s", world().bus_address.c_str());
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  if (const auto code = cuda(__func__)) return code;
  *stream = *world().streams.insert(new CUstream_st).first;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  world().streams.erase(stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const auto code = cuda(__func__)) return code;
  advance_all();
  return stream_of(stream).work.empty() ? cudaSuccess : world().last_error = cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const auto code = cuda(__func__)) return code;
  stream_of(stream).work.push_back([happened = event->happened] { return *happened; });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (const auto code = cuda(__func__)) return code;
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const auto code = cuda(__func__)) return code;
  advance_all();
  return *event->happened ? cudaSuccess : world().last_error = cudaErrorNotReady;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const auto code = cuda(__func__)) return code;
  event->happened = std::make_shared<bool>(false);
  stream_of(stream).work.push_back([happened = event->happened] { return *happened = true; });
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (const auto code = cuda(__func__)) return code;
  stream_of(stream).work.push_back([=] { return std::memcpy(to, from, bytes) == to; });
  return cudaSuccess;
}

// ---- NCCL

const char* ncclGetErrorString(ncclResult_t code) { return name_of(code); }
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (const auto code = nccl(__func__)) return code;
  std::snprintf(id->internal, sizeof id->internal, "identifier");
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (const auto code = nccl(__func__)) return code;
  if (config->blocking != 0 || std::string_view(id.internal) != "identifier") {
    return ncclInvalidArgument;
  }
  *made = world().communicators.emplace_back(std::make_unique<ncclComm>()).get();
  (*made)->rank = rank;
  (*made)->size = size;
  (*made)->polls = world().polls_in_progress;
  (*made)->tag = kFirstTag + static_cast<int>(world().communicators.size());
  (*made)->meet();
  return ncclInProgress;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  if (const auto code = nccl(__func__)) return code;
  if ((*state = nccl("asynchronous")) != ncclSuccess) return ncclSuccess;
  advance_all();
  *state = ncclInProgress;
  if (comm->polls > 0) return --comm->polls, ncclSuccess;
  using enum ncclComm::State;
  const bool meeting = comm->state == kJoining || comm->state == kLeaving;
  if (meeting && !comm->messages.done()) return ncclSuccess;
  if (meeting) comm->state = comm->state == kJoining ? kReady : kLeft;
  for (auto& [stream, work] : std::exchange(comm->accepted_later, {})) {
    stream_of(stream).work.push_back(std::move(work));
  }
  *state = ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (const auto code = nccl(__func__)) return code;
  comm->state = ncclComm::State::kLeaving;
  comm->polls = world().polls_in_progress;
  comm->meet();
  return ncclInProgress;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm->state != ncclComm::State::kLeft) return ncclInvalidUsage;
  comm->state = ncclComm::State::kGone;
  ++world().usage.destroyed;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (world().grouping) return ncclInvalidUsage;  // NCCL would abort it at the group's end
  comm->state = ncclComm::State::kGone;
  ++world().usage.aborted;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  if (const auto code = nccl(__func__)) return code;
  world().grouping = true;
  return ncclSuccess;
}
ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  if (const auto code = nccl(__func__)) return code;
  if (!world().grouping) return ncclInvalidUsage;
  world().group_of = {comm, stream};
  world().group.push_back({peer, bytes_of(count, type), data, {}});
  return ncclSuccess;
}
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  if (const auto code = nccl(__func__)) return code;
  if (!world().grouping) return ncclInvalidUsage;
  world().group_of = {comm, stream};
  world().group.push_back(receipt(peer, data, bytes_of(count, type)));
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  world().grouping = false;
  const auto [comm, stream] = world().group_of;
  const auto parts = std::exchange(world().group, {});
  if (const auto code = nccl(__func__)) return code;
  return parts.empty() ? ncclSuccess : start(comm, stream, transfer(comm, parts));
}

ncclResult_t ncclBroadcast(const void*, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  if (const auto code = nccl(__func__)) return code;
  const std::size_t bytes = bytes_of(count, type);
  std::vector<Part> parts;
  for (int other = 0; other < comm->size && comm->rank == root; ++other) {
    if (other != root) parts.push_back({other, bytes, to, {}});
  }
  if (comm->rank != root) parts.push_back(receipt(root, to, bytes));
  return start(comm, stream, transfer(comm, parts));
}
ncclResult_t ncclAllReduce(const void*, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t comm, cudaStream_t stream) {
  if (const auto code = nccl(__func__)) return code;
  std::vector<Part> parts;
  for (int other = 0; other < comm->size; ++other) {
    if (other == comm->rank) continue;
    parts.push_back({other, bytes_of(count, type), to, {}});
    parts.push_back({other, bytes_of(count, type), nullptr, [=](const char* from) {
                       type == ncclFloat64 ? add<double>(to, from, count)
                                           : add<float>(to, from, count);
                     }});
  }
  return start(comm, stream, transfer(comm, parts));
}

}  // extern "C"
