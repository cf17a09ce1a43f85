#include "learner/update/gradient_shard_sum.h"

#include <algorithm>
#include <span>
#include <utility>

#include "common/comm/roles.h"
#include "learner/update/optimizer_shards.h"

namespace lie {

GradientShardSum::GradientShardSum(Operators& operators, Collective& learners,
                                   std::int64_t elements, std::int64_t max_gradient_shards,
                                   std::string_view key)
    : operators_(operators), learners_(learners), elements_(elements) {
  check_gradient_shards(learners.size(), max_gradient_shards, key);
  const GradientShardRange own =
      gradient_shards_of_learner(max_gradient_shards, learners.rank(), learners.size());
  workers_ = operators.workers(elements);
  if (own.count < std::ssize(workers_)) workers_ = {&operators};
  stacks_.resize(workers_.size());
  const auto parts = gradient_shards_of_workers(own, std::ssize(stacks_));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto held = static_cast<std::size_t>(values_held(max_gradient_shards, parts[i]));
    for (std::size_t v = 0; v < held; ++v) value(stacks_[i], v);
  }
}

/// Number i of a worker's values.
Tensor GradientShardSum::value(Stack& stack, std::size_t i) {
  stack.values.resize(std::max(stack.values.size(), i + 1));
  Buffer& value = stack.values[i];
  if (value.empty()) value = operators_.allocate(1, elements_, DType::kFloat32);
  return value.view();
}

void GradientShardSum::join(Stack& stack, Operators& operators) {
  join_halves(gradient_shards_, stack.nodes,
              [&](std::size_t i) { operators.add(value(stack, i + 1), value(stack, i)); });
}

Tensor GradientShardSum::add_gradient_shard(const GradientShardWork& work) {
  Stack& stack = stacks_[static_cast<std::size_t>(work.worker)];
  Operators& operators = *workers_[static_cast<std::size_t>(work.worker)];
  join(stack, operators);
  stack.nodes.push_back({work.gradient_shard, 1});
  const Tensor zeros = value(stack, stack.nodes.size() - 1);
  operators.zero(zeros);
  return zeros;
}

void GradientShardSum::each_gradient_shard(
    std::int64_t gradient_shards, const std::function<void(const GradientShardWork&)>& work) {
  const GradientShardRange own =
      gradient_shards_of_learner(gradient_shards, learners_.rank(), learners_.size());
  const auto parts = gradient_shards_of_workers(own, std::ssize(workers_));
  operators_.run_workers(std::ssize(parts), [&](std::int64_t worker) {
    const GradientShardRange part = parts[static_cast<std::size_t>(worker)];
    for (std::int64_t gradient_shard = part.first; gradient_shard < part.first + part.count;
         ++gradient_shard) {
      work({worker, gradient_shard, gradient_shard - own.first});
    }
  });
}

void GradientShardSum::run(std::int64_t gradient_shards,
                           const std::function<void(const GradientShardWork&)>& work) {
  gradient_shards_ = gradient_shards;
  nodes_.clear();
  for (int learner = 0; learner < learners_.size(); ++learner) {
    std::size_t number = 0;
    for (const GradientShardRange node :
         nodes_of(gradient_shards,
                  gradient_shards_of_learner(gradient_shards, learner, learners_.size()))) {
      nodes_.push_back({node, learner, number++});
    }
  }
  for (Stack& stack : stacks_) stack.nodes.clear();
  each_gradient_shard(gradient_shards, [&](GradientShardWork gradient_shard) {
    gradient_shard.gradient = add_gradient_shard(gradient_shard);
    work(gradient_shard);
  });
  join_workers();
}

/// The nodes of all workers become the first one's.
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
    const std::int64_t longest = longest_shard(elements_, learners_.size());
    for (std::int64_t done = 0; done < longest; done += kExchangedAtOnce) add_part(done);
  }
  const FlatRange own = shard_of(elements_, learners_.rank(), learners_.size());
  return idle().elements_at(own.first, own.count);
}

/// The elements of `learner`'s shard from `done` on.
Tensor GradientShardSum::part_of(Tensor whole, int learner, std::int64_t done) const {
  const FlatRange part = part_of_shard(shard_of(elements_, learner, learners_.size()), done);
  return whole.elements_at(part.first, part.count);
}

/// A part of this learner's shard, of every node of all learners.
std::vector<Tensor> GradientShardSum::exchange_part(std::int64_t done) {
  const int me = learners_.rank();
  Stack& own = stacks_.front();
  const std::int64_t count = part_of(idle(), me, done).elements();
  std::vector<Tensor> parts;
  for (const Node& node : nodes_) {
    while (arrived_.size() <= parts.size()) {
      arrived_.push_back(operators_.allocate(1, kExchangedAtOnce, DType::kFloat32));
    }
    parts.push_back(node.learner == me ? part_of(value(own, node.number), me, done)
                                       : arrived_[parts.size()].view().elements_at(0, count));
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
          operators_.span(part_of(value(own, number), learner, done));
    }
    learners_.exchange(out, in);
  }
  return parts;
}

void GradientShardSum::add_part(std::int64_t done) {
  std::vector<Tensor> parts = exchange_part(done), values;
  std::vector<GradientShardRange> joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    joined.push_back(nodes_[i].gradient_shards);
    values.push_back(parts[i]);
    join_halves(gradient_shards_, joined, [&](std::size_t left) {
      operators_.add(values[left + 1], values[left]);
      values.pop_back();
    });
  }
  const Tensor own = part_of(idle(), learners_.rank(), done);
  if (values.front().data != own.data) operators_.copy(values.front(), own);
}

}  // namespace lie
