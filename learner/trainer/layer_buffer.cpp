#include "learner/trainer/layer_buffer.h"

#include "common/base/error.h"

namespace lie {

LayerBuffer::LayerBuffer(Operators& operators, std::int64_t elements)
    : memory_(operators.allocate(1, elements, DType::kFloat32)) {}

void LayerBuffer::hold(const LayerRanges& layers, std::int64_t layer) {
  ranges_ = layers.of(layer);
  elements_ = layers.elements(layer);
  if (elements_ > memory_.view().elements()) {
    fail("trainer: a layer of {} elements in memory for {}", elements_, memory_.view().elements());
  }
  tensors_ = RoleTensors();
  for (const Parameter& p : layers.parameters(layer)) {
    const Tensor view = at({p.offset, p.rows * p.cols});
    tensors_[p.role] = {view.data, p.rows, p.cols, p.cols, view.dtype};
  }
}

Tensor LayerBuffer::at(FlatRange part) const {
  std::int64_t before = 0;
  for (const FlatRange range : ranges_) {
    const std::int64_t first = part.first - range.first;
    if (first >= 0 && first + part.count <= range.count) {
      return memory_.view().elements_at(before + first, part.count);
    }
    before += range.count;
  }
  fail("trainer: the elements [{}, {}) are not of the layer in memory", part.first,
       part.first + part.count);
}

}  // namespace lie
