// The group operations over NCCL, on spans in device memory.
#pragma once

#include <memory>
#include <string>

#include "common/comm/collective/collective.h"
#include "common/comm/job.h"

namespace lie {

/// A group with the members of `host`, one GPU each; this rank's is number `device` of its node.
/// Spans of that device's memory travel over NCCL, bytes and spans of host memory over `host`, and
/// what the group itself is to round. Collective over `host`, which carries the identifier of the
/// NCCL communicator. Throws Error where the program was built without CUDA, or if two members
/// share a GPU, which NCCL refuses.
///
/// Each call starts after the work already enqueued on `compute_stream` (a cudaStream_t; null: the
/// default stream, where LibTorch computes) and returns when it has finished: later work on that
/// stream sees the result.
///
/// Bits: NCCL adds in the order of its ring or tree, not in rank order. That order is fixed for one
/// layout, NCCL_ALGO and NCCL_PROTO; all members get the same bits.
std::unique_ptr<Collective> nccl_collective(Job& job, std::unique_ptr<Collective> host, int device,
                                            void* compute_stream = nullptr);

/// "0000:3B:00.0": which GPU of its host device number `device` is. Throws Error where the program
/// was built without CUDA, or if there is none.
std::string gpu_bus_address(int device);

}  // namespace lie
