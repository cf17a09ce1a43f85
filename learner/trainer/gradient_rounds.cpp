#include "learner/trainer/gradient_rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/comm/role_plan.h"
#include "learner/trainer/optimizer_shards.h"

namespace lie {

GradientRounds::GradientRounds(Operators& operators, Collective& learners,
                               std::span<const Parameter> layout, std::int64_t max_shards,
                               LayerShards* weights)
    : operators_(operators),
      learners_(learners),
      weights_(weights),
      layers_(layout),
      slices_(layers_, learners.size()),
      elements_(flat_elements(layout)),
      longest_(longest_slice(layers_, learners.size())),
      sum_(operators.allocate(1, slices_.held(learners.rank()), DType::kFloat32)),
      outer_(operators, layers_.elements(kNoLayer)) {
  check_gradient_shards(learners.size(), max_shards);
  for (int i = 0; i < 2; ++i) buffers_.emplace_back(operators, layers_.longest_layer());
  if (learners.size() == 1) return;
  received_ = operators.allocate(1, learners.size() * longest_, DType::kFloat32);
}

void GradientRounds::run(const PackedGradientShards& shards, const Work& work) {
  operators_.zero(sum_.view());
  for_each_round_pass(shards, learners_.rank(), learners_.size(), [&](const RoundPass& pass) {
    contributes_ = pass.contributes;
    if (weights_ != nullptr) weights_->begin_pass(/*has_backward=*/true);
    add_pass([&] {
      if (pass.own != nullptr) work(*pass.own, pass.shard, *this);
    });
    if (weights_ != nullptr) weights_->end_pass();
  });
}

/// Adds the gradients of one backward pass of each learner that has one. Layers that backward() has
/// not added to are exchanged afterwards.
void GradientRounds::add_pass(const std::function<void()>& backward) {
  next_ = layers_.layers() - 1;
  open_layer_ = kNoLayer;
  is_outer_open_ = false;
  backward();
  const bool contributes = contributes_[static_cast<std::size_t>(learners_.rank())];
  while (next_ >= kNoLayer) {
    if (contributes) layer(next_);
    done(next_);
  }
}

const RoleTensors& GradientRounds::layer(std::int64_t layer) {
  LayerBuffer& memory = buffer(layer);
  const bool is_open = layer == kNoLayer ? is_outer_open_ : open_layer_ == layer;
  if (is_open) return memory.tensors();
  memory.hold(layers_, layer);
  operators_.zero(memory.all());
  if (layer == kNoLayer) is_outer_open_ = true;
  if (layer != kNoLayer) open_layer_ = layer;
  return memory.tensors();
}

void GradientRounds::done(std::int64_t layer) {
  if (layer != next_) fail("trainer: layer {} of a gradient follows layer {}", layer, next_ + 1);
  if (weights_ != nullptr && layer != kNoLayer) weights_->reach(layer);
  for (const FlatRange range : layers_.of(layer)) {
    const std::int64_t longest = longest_optimizer_shard(range.count, learners_.size());
    for (std::int64_t first = 0; first < longest; first += longest_) start(range, first);
  }
  if (layer == kNoLayer) finish();
  --next_;
}

/// Starts the exchange of at most longest_ elements of each learner's slice of the range, from
/// `first` on, when the preceding exchange is finished.
void GradientRounds::start(FlatRange range, std::int64_t first) {
  finish();
  const auto chunk = [&](int learner) {
    return chunk_of_optimizer_shard(slices_.slice(range, learner), first, longest_);
  };
  const int me = learners_.rank();
  const auto size = static_cast<std::size_t>(learners_.size());
  const FlatRange own = chunk(me);
  std::vector<DeviceSpan> out(size), in(size);
  Pending pending;
  for (int learner = 0; learner < learners_.size(); ++learner) {
    const auto i = static_cast<std::size_t>(learner);
    if (contributes_[static_cast<std::size_t>(me)]) {
      out[i] = operators_.span(buffer(next_).at(chunk(learner)));
    }
    if (!contributes_[i]) continue;
    pending.parts.push_back(learner == me
                                ? buffer(next_).at(own)
                                : received_.view().elements_at(learner * longest_, own.count));
    in[i] = operators_.span(pending.parts.back());
  }
  pending.sum = sum_.view().elements_at(slices_.place(me, own).first, own.count);
  pending.exchange = learners_.start_exchange(out, in);
  pending_ = std::move(pending);
}

/// Waits for the exchange in progress, if there is one, and adds what it brought.
void GradientRounds::finish() {
  if (!pending_) return;
  pending_->exchange->wait();
  if (pending_->sum.elements() > 0) {
    for (const Tensor part : pending_->parts) operators_.add(part, pending_->sum);
  }
  pending_.reset();
}

double GradientRounds::norm() {
  const auto blocks = [](std::int64_t count) {
    return static_cast<std::size_t>(optimizer_shard_blocks(count));
  };
  std::vector<double> sums;  // of all blocks; those of other learners are 0
  for (const FlatRange range : layers_.all()) {
    const std::size_t before = sums.size();
    sums.resize(before + blocks(range.count));
    const FlatRange slice = slices_.slice(range, learners_.rank());
    if (slice.count == 0) continue;
    const FlatRange place = slices_.place(learners_.rank(), slice);
    operators_.sums_of_squares(
        sum_.view().elements_at(place.first, place.count), kOptimizerShardBlock,
        std::span(sums).subspan(before + blocks(slice.first - range.first), blocks(slice.count)));
  }
  learners_.all_reduce_sum(std::span(sums));
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

void GradientRounds::for_each_part(const UsePart& use) {
  if (learners_.size() == 1) return use({0, elements_}, sum_.view());
  const std::int64_t longest = longest_optimizer_shard(elements_, learners_.size());
  for (std::int64_t first = 0; first < longest; first += layers_.longest_layer()) {
    const Tensor gradient = collect_part(first);
    if (gradient.elements() > 0) use(part_of(learners_.rank(), first), gradient);
  }
}

/// Returns the part of a learner's optimizer shard that begins `first` elements into it.
FlatRange GradientRounds::part_of(int learner, std::int64_t first) const {
  return chunk_of_optimizer_shard(optimizer_shard_of(elements_, learner, learners_.size()), first,
                                  layers_.longest_layer());
}

/// Collects the slices of all learners in a part of this learner's optimizer shard. A learner holds
/// those of one part next to each other, so that each pair of learners exchanges one span.
Tensor GradientRounds::collect_part(std::int64_t first) {
  const int me = learners_.rank();
  const FlatRange part = part_of(me, first);
  std::vector<DeviceSpan> out, in;
  std::int64_t received = 0;
  for (int learner = 0; learner < learners_.size(); ++learner) {
    const FlatRange sent = slices_.place(me, part_of(learner, first));
    out.push_back(operators_.span(sum_.view().elements_at(sent.first, sent.count)));
    const std::int64_t count = slices_.place(learner, part).count;
    in.push_back(operators_.span(received_.view().elements_at(received, count)));
    received += count;
  }
  learners_.exchange(out, in);
  const Tensor gradient = buffers_.front().memory().elements_at(0, part.count);
  received = 0;
  for (int learner = 0; learner < learners_.size(); ++learner) {
    for (const FlatRange piece : slices_.pieces(learner, part)) {
      operators_.copy(received_.view().elements_at(received, piece.count),
                      gradient.elements_at(piece.first - part.first, piece.count));
      received += piece.count;
    }
  }
  return gradient;
}

std::int64_t gradient_rounds_elements(std::span<const Parameter> layout, int learners) {
  const LayerRanges layers(layout);
  const std::int64_t received = learners == 1 ? 0 : learners * longest_slice(layers, learners);
  return GradientSlices(layers, learners).longest_held() + 2 * layers.longest_layer() +
         layers.elements(kNoLayer) + received;
}

}  // namespace lie
