// The group operations on data in the memory that a rank computes in, by the fastest way there is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/collective/collective.h"
#include "common/comm/job.h"
#include "model/operators/operators.h"

namespace lie {

/// How a group of hosts reaches the memory of operators. Both outlive what it makes.
using DeviceGroup =
    std::function<std::unique_ptr<Collective>(Collective& host, Operators& operators)>;

/// Over NCCL, bf16 rounded where it lies, too, where every member computes on a GPU of its own,
/// else staged_collective(). Collective over `host` where operators compute on GPUs; all members
/// compute on the same kind of device.
std::unique_ptr<Collective> device_collective(Job& job, Collective& host, Operators& operators);

/// `group`, which reaches the operators' memory, with broadcast_as_bfloat16() for it: rounded by
/// the root's operators and widened by the others', a part at a time.
std::unique_ptr<Collective> rounding_collective(std::unique_ptr<Collective> group,
                                                Operators& operators);

/// "node7 0000:3B:00.0": the GPU that this rank's operators compute on, for all ranks.
std::string device_name(Job& job, const Operators& operators);

/// Each member's own, by member. Collective.
std::vector<std::string> texts_of_members(Collective& group, const std::string& own);
/// Whether no two members have the same `own`. Collective.
bool all_differ(Collective& group, const std::string& own);

}  // namespace lie
