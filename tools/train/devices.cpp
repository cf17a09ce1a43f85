#include "tools/train/devices.h"

#include "common/error.h"
#include "model/aten/aten_operators.h"

namespace lie {

std::unique_ptr<Operators> make_operators(const ModelOptions& options, int threads) {
  if (options.device == "cpu") {
    return make_cpu_operators(options.threads > 0 ? static_cast<int>(options.threads) : threads);
  }
  if (options.device == "aten-cpu") return make_aten_operators("cpu", DType::kFloat32);
  if (options.device == "cuda") return make_aten_operators("cuda", DType::kBFloat16);
  fail("model.device is \"{}\": expected cpu, aten-cpu or cuda", options.device);
}

}  // namespace lie
