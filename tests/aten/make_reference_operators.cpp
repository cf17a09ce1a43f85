#include "tests/aten/make_reference_operators.h"

#include <ATen/Parallel.h>

#include "model/aten/device.h"
#include "tests/aten/reference_operators.h"

namespace lie {

std::unique_ptr<Operators> make_reference_operators(std::string_view device, DType dtype,
                                                    int threads) {
  if (threads > 0) at::set_num_threads(threads);
  return std::make_unique<aten::ReferenceOperators>(aten::usable_device(device), dtype);
}

}  // namespace lie
