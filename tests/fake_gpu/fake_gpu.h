// A fake of CUDA's runtime and of NCCL over host memory and MPI, linked into tests in place of the
// libraries. It has streams, events and non-blocking communicators. Work on a stream happens only
// when the program asks for a state. Each such query advances all streams as far as possible.
// Misuse that NCCL leaves undefined is refused: a call before a communicator is ready, a send or
// receive outside of a group, and the destruction of a communicator that is not finalized.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace lie::fake_gpu {

/// The next call of `function`, for example "cudaStreamQuery", returns `code` and does nothing.
/// "asynchronous" stands for the state that ncclCommGetAsyncError() reports.
void fail_next(const std::string& function, int code);
/// Returns whether the failure of fail_next() has happened.
bool has_failed();

/// Makes communicators report ncclInProgress `polls` times after each call. Their streams get the
/// call's work only afterwards.
void set_polls_in_progress(int polls);

/// Enqueues work on the default stream of a device, which is done after `polls` queries. Makes
/// another device current, as LibTorch may.
void enqueue(int device, int polls, std::function<void()> work);

/// Sets the PCI address of every device of this process.
void set_bus_address(const std::string& address);

/// Blocks until all other ranks of MPI_COMM_WORLD have begun to join their first communicator with
/// this process.
void wait_until_others_join();

struct Usage {
  int communicators = 0, destroyed = 0, aborted = 0;
  int operations = 0;  // of NCCL
};
Usage usage();

}  // namespace lie::fake_gpu
