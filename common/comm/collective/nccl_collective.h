// The group operations over NCCL, for device memory.
#pragma once

#include <memory>
#include <string>

#include "common/comm/collective/collective.h"
#include "common/comm/job.h"

namespace lie {

/// Creates a group with the members of `host`, one GPU each. This rank's GPU has number `device` on
/// its node. Spans in that GPU's memory travel over NCCL. Bytes, spans in host memory and
/// broadcast_as_bfloat16 use `host`. Collective over `host`, which carries the identifier of the
/// NCCL communicator. Throws Error if the program was built without CUDA, or if two members share a
/// GPU, which NCCL refuses.
///
/// Each call starts after the work already enqueued on `compute_stream` and returns when it has
/// finished, so later work on that stream sees the result. `compute_stream` is a cudaStream_t; null
/// is the default stream, on which LibTorch computes.
///
/// A call that takes longer than job.collective_limit() throws TransientError.
///
/// NCCL adds in the order of its ring or tree, not in rank order. That order is fixed for one
/// layout, NCCL_ALGO and NCCL_PROTO. Results are bit-identical on all members.
std::unique_ptr<Collective> nccl_collective(Job& job, std::unique_ptr<Collective> host, int device,
                                            void* compute_stream = nullptr);

/// Returns the PCI address of GPU number `device`, such as "0000:3B:00.0", which identifies it on
/// its host. Throws Error if the program was built without CUDA, or if there is no such GPU.
std::string gpu_bus_address(int device);

}  // namespace lie
