// A collective for values in the memory that the members compute in, by the fastest transport.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/comm/collective/collective.h"
#include "common/comm/job.h"
#include "model/operators/operators.h"

namespace lie {

/// Makes a collective for the operators' memory from one for host memory. The result keeps
/// references to both arguments.
using MakeDeviceCollective =
    std::function<std::unique_ptr<Collective>(Collective& host, Operators& operators)>;

/// Returns a collective over NCCL if every member computes on a GPU of its own, otherwise
/// through_host_collective(). Collective over `host` if operators compute on GPUs. All members must
/// compute on the same kind of device.
std::unique_ptr<Collective> device_collective(Job& job, Collective& host, Operators& operators);

/// Adds broadcast_as_bfloat16() for the operators' memory to `group`, which must reach that memory.
/// The root's operators round the values and the other members' operators widen them, a chunk at a
/// time.
std::unique_ptr<Collective> rounding_collective(std::unique_ptr<Collective> group,
                                                Operators& operators);

/// Returns whether no two members have the same text. Collective.
bool all_differ(Collective& group, const std::string& own);

/// Returns a collective over `host`'s members that also accepts fp32 in the memory of `operators`.
/// Such values are copied to the host a chunk at a time, sent by `host`, and copied back. Values in
/// host memory go to `host` unchanged. This is slower than NCCL, but members may share a GPU. Sums
/// are added as `host` adds them. Keeps references to both arguments.
std::unique_ptr<Collective> through_host_collective(Collective& host, Operators& operators);

}  // namespace lie
