// A group of hosts for data on a device: travels through host memory, part by part.
#pragma once

#include <memory>

#include "common/comm/collective/collective.h"
#include "model/operators/operators.h"

namespace lie {

/// `host` as it is for host memory; fp32 in the memory of `operators` is copied to the host, sent,
/// and copied back. Slower than a group over NCCL, but ranks may share a GPU. Sums are added as
/// `host` adds them. Both must outlive the group.
std::unique_ptr<Collective> staged_collective(Collective& host, Operators& operators);

}  // namespace lie
