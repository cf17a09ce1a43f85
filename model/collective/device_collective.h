// A collective for values in the memory that the members compute in, by the fastest transport.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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

/// Returns the host and the bus address of the GPU that the operators compute on, for example
/// "node7 0000:3B:00.0". No two GPUs of a job have the same name.
std::string gpu_name(Job& job, const Operators& operators);

/// Returns the texts of all members, by member. Collective.
std::vector<std::string> gather_texts(Collective& group, const std::string& own);

/// Returns whether no two members have the same text. Collective.
bool all_differ(Collective& group, const std::string& own);

/// Returns a collective over `host`'s members that also accepts fp32 in the memory of `operators`.
/// Such values are copied to the host a chunk at a time, sent by `host`, and copied back. Values in
/// host memory go to `host` unchanged. This is slower than NCCL, but members may share a GPU. Sums
/// are added as `host` adds them. Keeps references to both arguments.
std::unique_ptr<Collective> through_host_collective(Collective& host, Operators& operators);

}  // namespace lie
