#include "model/layers/flat_tensors.h"

#include "common/base/error.h"

namespace lie {

static_assert(kNoLayer == -1);

FlatTensors::FlatTensors(std::span<const Parameter> layout, Tensor flat) {
  if (flat.elements() != flat_elements(layout)) {
    fail("a flat buffer of {} elements for parameters of {}", flat.elements(),
         flat_elements(layout));
  }
  for (const Parameter& p : layout) {
    const auto number = static_cast<std::size_t>(p.layer + 1);
    if (number >= layers_.size()) layers_.resize(number + 1);
    const Tensor view = flat.elements_at(p.offset, p.rows * p.cols);
    layers_[number][p.role] = {view.data, p.rows, p.cols, p.cols, view.dtype};
  }
}

}  // namespace lie
