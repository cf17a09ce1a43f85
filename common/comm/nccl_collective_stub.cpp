#include "common/comm/nccl_collective.h"
#include "common/error.h"

namespace lie {

std::unique_ptr<Collective> nccl_collective(Job&, Collective&, int, void*) {
  fail("NCCL: this program was built without CUDA; build it with -DLIE_CUDA=ON (preset cuda)");
}

}  // namespace lie
