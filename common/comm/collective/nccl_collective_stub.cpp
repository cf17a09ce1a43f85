#include "common/base/error.h"
#include "common/comm/collective/nccl_collective.h"

namespace lie {
namespace {

[[noreturn]] void fail_without_cuda() {
  fail("NCCL: this program was built without CUDA; build it with -DLIE_CUDA=ON (preset cuda)");
}

}  // namespace

std::unique_ptr<Collective> nccl_collective(Job&, std::unique_ptr<Collective>, int, void*) {
  fail_without_cuda();
}

std::string gpu_bus_address(int) { fail_without_cuda(); }

}  // namespace lie
