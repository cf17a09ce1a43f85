#include "learner/trainer/layer_shards.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/error.h"
#include "learner/trainer/gradient_slices.h"
#include "learner/trainer/optimizer_shards.h"

namespace lie {
namespace {

/// Elements that are widened at a time; a longer row is widened at once.
constexpr std::int64_t kWidenedElements = std::int64_t{1} << 22;

ModelConfig of_one_layer(ModelConfig config) {
  config.layers = 1;
  return config;
}

std::int64_t vector_elements(const LayerRanges& layers) {
  std::int64_t elements = 0;
  for (const Parameter& p : layers.parameters(0)) elements += p.rows == 1 ? p.cols : 0;
  return elements;
}

std::int64_t widened_elements(const LayerRanges& layers, DType packed) {
  if (packed == DType::kFloat32) return 0;
  std::int64_t longest_row = 0;
  for (const std::int64_t layer : {kNoLayer, std::int64_t{0}}) {
    for (const Parameter& p : layers.parameters(layer)) {
      longest_row = std::max(longest_row, p.cols);
    }
  }
  return std::max(longest_row, std::min(kWidenedElements, layers.longest_layer()));
}

}  // namespace

LayerShards::LayerShards(const ModelConfig& config, Operators& operators, Collective& learners)
    : operators_(operators),
      learners_(learners),
      layers_(parameter_layout(config)),
      window_layers_(parameter_layout(of_one_layer(config))),
      window_(ResidentWeights::received(of_one_layer(config), operators)) {
  const std::int64_t elements = window_layers_.elements(0);
  for (std::int64_t layer = 0; layer < layers_.layers(); ++layer) {
    if (layers_.elements(layer) != elements) fail("trainer: layers of different sizes");
  }
  const DType packed = operators.packed_dtype();
  slices_ = operators.allocate(layers_.layers(), slice(learners.rank()).count, packed);
  std::int64_t place = 0;
  for (const Parameter& p : window_layers_.parameters(0)) {
    if (p.rows > 1) continue;
    vector_list_.push_back({p.offset - window_layers_.of(0).front().first, place, p.cols});
    place += p.cols;
  }
  vectors_ = operators.allocate(layers_.layers(), place, DType::kFloat32);
  arriving_ = operators.allocate(1, elements, packed);
  const std::int64_t wide = widened_elements(layers_, packed);
  if (wide > 0) wide_ = operators.allocate(1, wide, DType::kFloat32);
}

/// Returns the slice of a learner in a layer, from the layer's first element on.
FlatRange LayerShards::slice(int learner) const {
  return part_of_learner({0, window_layers_.elements(0)}, learner, learners_.size());
}

void LayerShards::take(std::int64_t layer, const LayerBuffer& whole) {
  packed_ = kNoLayer;
  if (layer == kNoLayer) {
    const auto& ranges = layers_.of(kNoLayer);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      window_->pack_from(window_layers_.of(kNoLayer)[i].first, whole.at(ranges[i]));
    }
    return;
  }
  const FlatRange own = slice(learners_.rank());
  if (own.count > 0) {
    operators_.copy(whole.all().elements_at(own.first, own.count),
                    slices_.view().rows_at(layer, 1));
  }
  for (const Vector& v : vector_list_) {
    operators_.copy(whole.all().elements_at(v.first, v.cols), vector(layer, v));
  }
}

void LayerShards::begin_pass(bool has_backward) {
  place_ = 0;
  end_ = has_backward ? 2 * layers_.layers() : layers_.layers();
  start_next();
}

void LayerShards::reach(std::int64_t layer) {
  const std::int64_t end = 2 * layers_.layers() - layer;
  while (place_ < std::min(end, end_)) acquire(layer_at(place_));
}

void LayerShards::end_pass() {
  while (place_ < end_) acquire(layer_at(place_));
}

const Block& LayerShards::acquire(std::int64_t layer) {
  if (place_ == end_ || layer_at(place_) != layer) {
    fail("trainer: a pass reads layer {}, which is not the next one that the learners gather",
         layer);
  }
  ++place_;
  if (packed_ != layer) pack(layer);
  start_next();
  return window_->acquire(0);
}

/// Starts to gather the next layer of the pass, unless that is in progress.
void LayerShards::start_next() {
  if (next_) return;
  for (std::int64_t place = place_; place < end_; ++place) {
    if (layer_at(place) != packed_) return start(layer_at(place));
  }
}

void LayerShards::start(std::int64_t layer) {
  const Tensor own = slices_.view().rows_at(layer, 1);
  const std::vector<DeviceSpan> out(static_cast<std::size_t>(learners_.size()),
                                    operators_.span(own));
  std::vector<DeviceSpan> in;
  for (int learner = 0; learner < learners_.size(); ++learner) {
    const FlatRange part = slice(learner);
    in.push_back(operators_.span(arriving_.view().elements_at(part.first, part.count)));
  }
  next_ = learners_.start_exchange(out, in);
}

void LayerShards::pack(std::int64_t layer) {
  std::exchange(next_, nullptr)->wait();
  const std::int64_t first = window_layers_.of(0).front().first;
  pack_part(first, arriving_.view());
  for (const Vector& v : vector_list_) window_->pack_from(first + v.first, vector(layer, v));
  packed_ = layer;
}

/// Packs elements of the window's flat order, which begin and end with complete rows.
void LayerShards::pack_part(std::int64_t first, Tensor values) {
  if (values.dtype == DType::kFloat32) {
    window_->pack_from(first, values);
    return;
  }
  for (std::int64_t done = 0; done < values.cols;) {
    const std::int64_t count = std::min(wide_.view().cols, values.cols - done);
    const Tensor wide = wide_.view().elements_at(0, count);
    operators_.copy(values.elements_at(done, count), wide);
    done += window_->pack_from(first + done, wide);
  }
}

std::int64_t layer_shards_bytes(std::span<const Parameter> layout, int learners, DType packed) {
  const LayerRanges layers(layout);
  const std::int64_t floats =
      layers.layers() * vector_elements(layers) + widened_elements(layers, packed);
  const std::int64_t weights =
      layers.layers() * longest_slice(layers, learners) + layers.longest_layer();
  return floats * dtype_bytes(DType::kFloat32) + weights * dtype_bytes(packed);
}

}  // namespace lie
