// For a build without LibTorch.
#include "common/base/error.h"
#include "model/aten/operators.h"
#include "model/cuda/operators.h"

namespace lie {
namespace {

[[noreturn]] void refuse(std::string_view device) {
  fail(
      "model.device {} needs LibTorch, without which this program was built: use cpu or cpu-bf16, "
      "or run scripts/setup.sh with access to the network and build again",
      device);
}

}  // namespace

std::unique_ptr<Operators> make_aten_operators(std::string_view device, DType, int) {
  refuse(device == "cpu" ? "aten-cpu" : device);
}

std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType, int, CudaBits) {
  refuse(device);
}

int usable_gpus() { return 0; }

}  // namespace lie
