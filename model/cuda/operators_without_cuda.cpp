// For a program built without CUDA.
#include "common/base/error.h"
#include "model/aten/operators.h"
#include "model/cuda/operators.h"

namespace lie {

std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType dtype, int threads,
                                               CudaBits) {
  make_aten_operators(device, dtype, threads);  // explains why the device can't be used, if so
  fail("model.device \"{}\": this program was built without CUDA; build it with preset cuda",
       device);
}

}  // namespace lie
