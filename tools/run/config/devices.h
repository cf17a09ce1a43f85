// From model.device to the operators that compute there.
#pragma once

#include <memory>
#include <string>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "tools/run/config/options.h"

namespace lie {

/// `threads`: the rank's share of the host's cores, unless model.threads says otherwise. Throws
/// Error if the device is unknown or absent. `shared`: for those that can_share_weights().
/// `local_gpu`: this rank's index among the GPUs of its host, modulo their number; -1: its rank on
/// the host.
std::unique_ptr<Operators> make_operators(const ModelOptions& options, int threads,
                                          const SharedFloats& shared = {}, int local_gpu = -1);

/// Returns the local GPU index of a learner or an actor: its number among the learners and actors
/// of its host. Reward workers use no GPU.
int local_gpu_index(const RoleLayout& layout, int rank);

/// Whether operators of this device can have their weights in memory that processes share.
bool can_share_weights(const ModelOptions& options);

/// What a fixed policy's matrices are held as, as far as its files' headers tell: the CPU's
/// operators find bf16 in files of other dtypes, too, once they read the values.
DType fixed_dtype(const ModelOptions& options, const WeightsPlan& files, DType packed);

/// What the matrices of a fixed policy take, in words for people.
std::string describe_held(const ModelOptions& options, const PackedSize& size);

/// This rank's share of its host's cores where all ranks play one role; widens the binding that
/// mpirun gave it unless `keep_binding`. Collective over the world.
int threads_of_equal_ranks(Job& job, bool keep_binding);

}  // namespace lie
