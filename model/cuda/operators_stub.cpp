// The functions of operators.h in a program built without CUDA.
#include "common/base/error.h"
#include "model/cuda/operators.h"

namespace lie {

std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType, int, CudaBits) {
  fail(
      "model.device \"{}\": this program was built without CUDA; set model.device to cpu, or build "
      "it with preset cuda (-DLIE_CUDA=ON)",
      device);
}

int usable_gpus() { return 0; }

}  // namespace lie
