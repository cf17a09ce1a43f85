#include "learner/trainer/gradient_shard_sum.h"

#include <span>
#include <utility>

#include "common/comm/role_plan.h"
#include "learner/trainer/optimizer_shards.h"

namespace lie {

GradientShardSum::GradientShardSum(Operators& operators, Collective& learners,
                                   std::int64_t elements, std::int64_t max_shards,
                                   std::int64_t read_elements)
    : operators_(operators),
      learners_(learners),
      elements_(elements),
      read_elements_(read_elements),
      chunk_(
          std::min(chunk_elements(operators), longest_optimizer_shard(elements, learners.size()))) {
  check_gradient_shards(learners.size(), max_shards);
  const GradientShardRange own =
      gradient_shards_of_learner(max_shards, learners.rank(), learners.size());
  workers_ = operators.workers(read_elements);
  if (own.count < std::ssize(workers_)) workers_ = {&operators};
  stacks_.resize(workers_.size());
  const auto parts = gradient_shards_of_workers(own, std::ssize(stacks_));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto held = static_cast<std::size_t>(values_held(max_shards, parts[i]));
    for (std::size_t v = 0; v < held; ++v) value(stacks_[i], v);
  }
}

/// Returns value i of a worker, allocated on first use.
Tensor GradientShardSum::value(Stack& stack, std::size_t i) {
  stack.values.resize(std::max(stack.values.size(), i + 1));
  Buffer& value = stack.values[i];
  if (value.empty()) value = operators_.allocate(1, elements_, DType::kFloat32);
  return value.view();
}

void GradientShardSum::join(Stack& stack, Operators& operators) {
  join_halves(shard_count_, stack.nodes,
              [&](std::size_t i) { operators.add(value(stack, i + 1), value(stack, i)); });
}

Tensor GradientShardSum::begin_shard(const GradientShardWork& work) {
  Stack& stack = stacks_[static_cast<std::size_t>(work.worker)];
  Operators& operators = *workers_[static_cast<std::size_t>(work.worker)];
  join(stack, operators);
  stack.nodes.push_back({work.shard, 1});
  const Tensor zeros = value(stack, stack.nodes.size() - 1);
  operators.zero(zeros);
  return zeros;
}

void GradientShardSum::for_each_shard(std::int64_t shard_count,
                                      const std::function<void(const GradientShardWork&)>& work) {
  const GradientShardRange own =
      gradient_shards_of_learner(shard_count, learners_.rank(), learners_.size());
  const auto parts = gradient_shards_of_workers(own, std::ssize(workers_));
  operators_.run_workers(std::ssize(parts), [&](std::int64_t worker) {
    const GradientShardRange part = parts[static_cast<std::size_t>(worker)];
    for (std::int64_t shard = part.first; shard < part.first + part.count; ++shard) {
      work({worker, shard, shard - own.first});
    }
  });
}

void GradientShardSum::run(std::int64_t shard_count,
                           const std::function<void(const GradientShardWork&)>& work) {
  shard_count_ = shard_count;
  nodes_.clear();
  for (int learner = 0; learner < learners_.size(); ++learner) {
    std::size_t number = 0;
    for (const GradientShardRange node : nodes_of(
             shard_count, gradient_shards_of_learner(shard_count, learner, learners_.size()))) {
      nodes_.push_back({node, learner, number++});
    }
  }
  for (Stack& stack : stacks_) stack.nodes.clear();
  for_each_shard(shard_count, [&](GradientShardWork shard) {
    shard.gradient = begin_shard(shard);
    work(shard);
  });
  join_workers();
}

/// Moves the nodes of all workers to the first worker and merges them.
void GradientShardSum::join_workers() {
  Stack& all = stacks_.front();
  join(all, operators_);
  for (Stack& stack : std::span(stacks_).subspan(1)) {
    join(stack, operators_);
    for (std::size_t i = 0; i < stack.nodes.size(); ++i) {
      all.nodes.push_back(stack.nodes[i]);
      all.values.resize(std::max(all.values.size(), all.nodes.size()));
      std::swap(all.values[all.nodes.size() - 1], stack.values[i]);
      join(all, operators_);
    }
  }
}

Tensor GradientShardSum::sum() {
  if (learners_.size() > 1) {
    const std::int64_t longest = longest_optimizer_shard(elements_, learners_.size());
    for (std::int64_t done = 0; done < longest; done += chunk_) add_chunk(done);
  }
  const FlatRange own = optimizer_shard_of(elements_, learners_.rank(), learners_.size());
  return scratch().elements_at(own.first, own.count);
}

/// Returns the chunk of `learner`'s optimizer shard that starts at element `done` of the shard.
Tensor GradientShardSum::chunk_of(Tensor whole, int learner, std::int64_t done) const {
  const FlatRange part = chunk_of_optimizer_shard(
      optimizer_shard_of(elements_, learner, learners_.size()), done, chunk_);
  return whole.elements_at(part.first, part.count);
}

/// Exchanges one chunk of this learner's optimizer shard; returns it for every node of all
/// learners.
std::vector<Tensor> GradientShardSum::exchange_chunk(std::int64_t done) {
  const int me = learners_.rank();
  Stack& own = stacks_.front();
  const std::int64_t count = chunk_of(scratch(), me, done).elements();
  std::vector<Tensor> parts;
  for (const Node& node : nodes_) {
    while (received_.size() <= parts.size()) {
      received_.push_back(operators_.allocate(1, chunk_, DType::kFloat32));
    }
    parts.push_back(node.learner == me ? chunk_of(value(own, node.number), me, done)
                                       : received_[parts.size()].view().elements_at(0, count));
  }
  const auto size = static_cast<std::size_t>(learners_.size());
  for (std::size_t number = 0, found = 0; found < nodes_.size(); ++number) {
    std::vector<DeviceSpan> out(size), in(size);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].number != number) continue;
      in[static_cast<std::size_t>(nodes_[i].learner)] = operators_.span(parts[i]);
      ++found;
    }
    for (int learner = 0; number < own.nodes.size() && learner < learners_.size(); ++learner) {
      out[static_cast<std::size_t>(learner)] =
          operators_.span(chunk_of(value(own, number), learner, done));
    }
    learners_.exchange(out, in);
  }
  return parts;
}

void GradientShardSum::add_chunk(std::int64_t done) {
  std::vector<Tensor> parts = exchange_chunk(done), values;
  std::vector<GradientShardRange> joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    joined.push_back(nodes_[i].shards);
    values.push_back(parts[i]);
    join_halves(shard_count_, joined, [&](std::size_t left) {
      operators_.add(values[left + 1], values[left]);
      values.pop_back();
    });
  }
  const Tensor own = chunk_of(scratch(), learners_.rank(), done);
  if (values.front().data != own.data) operators_.copy(values.front(), own);
}

std::int64_t gradient_shard_sum_elements(std::int64_t elements, std::int64_t max_shards,
                                         int learners, std::int64_t chunk) {
  const std::int64_t held =
      values_held(max_shards, gradient_shards_of_learner(max_shards, 0, learners)) * elements;
  if (learners == 1) return held;
  std::int64_t nodes = 0;
  for (int learner = 0; learner < learners; ++learner) {
    nodes +=
        std::ssize(nodes_of(max_shards, gradient_shards_of_learner(max_shards, learner, learners)));
  }
  return held + nodes * std::min(chunk, longest_optimizer_shard(elements, learners));
}

}  // namespace lie
