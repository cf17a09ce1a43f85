// CUDA's runtime and NCCL over host memory and MPI, linked into tests in place of the libraries. It
// has streams, events, non-blocking communicators and memory that other processes open, and knows
// the order of their work: nothing on a stream happens before the program asks for its state, and
// each question lets every stream do what is ready. Misuse is refused where NCCL leaves it
// undefined: a call before a communicator is ready, sends and receives that are not in a group, and
// a communicator that is destroyed before it is finalized.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace lie::fake_gpu {

/// The next call of `function`, for example "cudaStreamQuery", returns `code` and does nothing.
/// "asynchronous" stands for the state that ncclCommGetAsyncError() reports.
void fail_next(const std::string& function, int code);
/// Whether the failure of fail_next() has happened.
bool has_failed();

/// From now on a communicator reports ncclInProgress `polls` times after each call. Meanwhile its
/// streams do not have the call's work.
void set_polls_in_progress(int polls);

/// Enqueues work on the default stream of a device, which takes until `polls` questions later, and
/// makes another device current, as LibTorch may.
void enqueue(int device, int polls, std::function<void()> work);

/// The PCI address of every device of this process.
void set_bus_address(const std::string& address);

/// Returns memory as cudaMalloc does, which is kept until the process ends.
void* allocate(std::size_t bytes);

struct Usage {
  int communicators = 0, destroyed = 0, aborted = 0;
  int operations = 0;  // of NCCL
  int mapped = 0;      // allocations of other processes that are open
};
Usage usage();

}  // namespace lie::fake_gpu
