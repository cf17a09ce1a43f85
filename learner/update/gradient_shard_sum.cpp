#include "learner/update/gradient_shard_sum.h"

#include <algorithm>
#include <span>
#include <utility>

#include "common/comm/roles.h"
#include "learner/update/optimizer_shards.h"

namespace lie {

LaneSum::LaneSum(Operators& operators, Collective& learners, std::int64_t elements,
                 std::int64_t most_lanes, std::string_view key)
    : operators_(operators), learners_(learners), elements_(elements) {
  check_lanes(learners.size(), most_lanes, key);
  const LaneRange own = lanes_of_learner(most_lanes, learners.rank(), learners.size());
  workers_ = operators.workers(elements);
  if (own.count < std::ssize(workers_)) workers_ = {&operators};
  stacks_.resize(workers_.size());
  const auto parts = lanes_of_workers(own, std::ssize(stacks_));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto held = static_cast<std::size_t>(values_held(most_lanes, parts[i]));
    for (std::size_t v = 0; v < held; ++v) value(stacks_[i], v);
  }
}

/// Number i of a worker's values.
Tensor LaneSum::value(Stack& stack, std::size_t i) {
  stack.values.resize(std::max(stack.values.size(), i + 1));
  Buffer& value = stack.values[i];
  if (value.empty()) value = operators_.allocate(1, elements_, DType::kFloat32);
  return value.view();
}

void LaneSum::join(Stack& stack, Operators& operators) {
  join_halves(lanes_, stack.nodes,
              [&](std::size_t i) { operators.add(value(stack, i + 1), value(stack, i)); });
}

Tensor LaneSum::add_lane(const LaneWork& work) {
  Stack& stack = stacks_[static_cast<std::size_t>(work.worker)];
  Operators& operators = *workers_[static_cast<std::size_t>(work.worker)];
  join(stack, operators);
  stack.nodes.push_back({work.lane, 1});
  const Tensor zeros = value(stack, stack.nodes.size() - 1);
  operators.zero(zeros);
  return zeros;
}

void LaneSum::each_lane(std::int64_t lanes, const std::function<void(const LaneWork&)>& work) {
  const LaneRange own = lanes_of_learner(lanes, learners_.rank(), learners_.size());
  const auto parts = lanes_of_workers(own, std::ssize(workers_));
  operators_.run_workers(std::ssize(parts), [&](std::int64_t worker) {
    const LaneRange part = parts[static_cast<std::size_t>(worker)];
    for (std::int64_t lane = part.first; lane < part.first + part.count; ++lane) {
      work({worker, lane, lane - own.first});
    }
  });
}

void LaneSum::run(std::int64_t lanes, const std::function<void(const LaneWork&)>& work) {
  lanes_ = lanes;
  nodes_.clear();
  for (int learner = 0; learner < learners_.size(); ++learner) {
    std::size_t number = 0;
    for (const LaneRange node :
         nodes_of(lanes, lanes_of_learner(lanes, learner, learners_.size()))) {
      nodes_.push_back({node, learner, number++});
    }
  }
  for (Stack& stack : stacks_) stack.nodes.clear();
  each_lane(lanes, [&](LaneWork lane) {
    lane.gradient = add_lane(lane);
    work(lane);
  });
  join_workers();
}

/// The nodes of all workers become the first one's.
void LaneSum::join_workers() {
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

Tensor LaneSum::sum() {
  if (learners_.size() > 1) {
    const std::int64_t longest = longest_shard(elements_, learners_.size());
    for (std::int64_t done = 0; done < longest; done += kExchangedAtOnce) add_part(done);
  }
  const FlatRange own = shard_of(elements_, learners_.rank(), learners_.size());
  return idle().elements_at(own.first, own.count);
}

/// The elements of `learner`'s shard from `done` on.
Tensor LaneSum::part_of(Tensor whole, int learner, std::int64_t done) const {
  const FlatRange part = part_of_shard(shard_of(elements_, learner, learners_.size()), done);
  return whole.elements_at(part.first, part.count);
}

/// A part of this learner's shard, of every node of all learners.
std::vector<Tensor> LaneSum::exchange_part(std::int64_t done) {
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

void LaneSum::add_part(std::int64_t done) {
  std::vector<Tensor> parts = exchange_part(done), values;
  std::vector<LaneRange> joined;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    joined.push_back(nodes_[i].lanes);
    values.push_back(parts[i]);
    join_halves(lanes_, joined, [&](std::size_t left) {
      operators_.add(values[left + 1], values[left]);
      values.pop_back();
    });
  }
  const Tensor own = part_of(idle(), learners_.rank(), done);
  if (values.front().data != own.data) operators_.copy(values.front(), own);
}

}  // namespace lie
