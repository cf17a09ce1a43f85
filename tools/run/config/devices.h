// Creates the operators for the device that model.device names.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "common/comm/job.h"
#include "common/comm/roles.h"
#include "common/process/log.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "tools/run/config/model_options.h"

namespace lie {

/// Returns the operators for options.device. `threads` is the rank's share of the host's cores and
/// applies unless model.threads is set. `shared` allocates shared memory, for devices that
/// can_share_weights(). `local_gpu` is the index of one of the process's GPUs, taken modulo their
/// number (RoleLayout::gpu()); -1 means its rank on the host. Throws Error if the device is unknown
/// or absent, or if it is a GPU that fails probe().
std::unique_ptr<Operators> make_operators(const ModelOptions& options, int threads,
                                          const SharedFloats& shared = {}, int local_gpu = -1);

/// Writes a line for each choice between kernels that the operators make for such passes of a
/// policy. Choosing compiles and checks kernels, so it is done here and not in the first step.
void log_choices(const Log& log, Operators& operators, PassKind kind, const ModelConfig& model);

/// Returns whether options.device is a GPU, or stands for those of the host.
bool is_on_gpu(const ModelOptions& options);

/// Returns the names of the GPUs that this process may use by options.device, which are unique on
/// its host; none for other devices.
std::vector<std::string> visible_gpus(const ModelOptions& options);

/// Returns how many GPUs of this host the ranks share: all that CUDA lets this process use, or the
/// one that options.device names.
int shared_gpus(const ModelOptions& options);

/// Returns whether operators of this device can keep their weights in memory shared between
/// processes.
bool can_share_weights(const ModelOptions& options);

/// Returns the dtype in which the matrices of a fixed policy are held, as far as the headers of its
/// files tell. The CPU operators may also choose bf16 for files of other dtypes once they have read
/// the values.
DType fixed_dtype(const ModelOptions& options, const WeightsPlan& files, DType packed);

/// Returns a readable description of the memory that the matrices of a fixed policy take.
std::string describe_held(const ModelOptions& options, const PackedSize& size);

/// Writes describe_held() and what loading the model ignored, a line each.
void describe_policy(const ModelOptions& options, const PackedSize& size, std::ostream& out);

/// Returns this rank's share of its host's cores if all ranks have the same role. Widens the core
/// binding set by mpirun unless `keep_binding`. Collective over the world.
int threads_of_equal_ranks(Job& job, bool keep_binding);

}  // namespace lie
