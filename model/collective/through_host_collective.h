// A collective for values in a device's memory whose transport reaches host memory only.
#pragma once

#include <memory>

#include "common/comm/collective/collective.h"
#include "model/operators/operators.h"

namespace lie {

/// Returns a collective over `host`'s members that also accepts fp32 in the memory of `operators`.
/// Such values are copied to the host a chunk at a time, sent by `host`, and copied back. Values in
/// host memory go to `host` unchanged. This is slower than NCCL, but members may share a GPU. Sums
/// are added as `host` adds them. Keeps references to both arguments.
std::unique_ptr<Collective> through_host_collective(Collective& host, Operators& operators);

}  // namespace lie
