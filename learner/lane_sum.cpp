#include "learner/lane_sum.h"

#include <algorithm>

#include "common/comm/roles.h"
#include "learner/shards.h"

namespace lie {

LaneSum::LaneSum(Operators& operators, Collective& learners, std::int64_t elements,
                 std::int64_t most_lanes, std::string_view key)
    : operators_(operators), learners_(learners), elements_(elements) {
  check_lanes(learners.size(), most_lanes, key);
  const LaneRange own = lanes_of_learner(most_lanes, learners.rank(), learners.size());
  value(static_cast<std::size_t>(values_held(most_lanes, own)) - 1);
}

LaneRange LaneSum::begin(std::int64_t lanes) {
  lanes_ = lanes;
  own_nodes_.clear();
  nodes_.clear();
  for (int learner = 0; learner < learners_.size(); ++learner) {
    std::size_t number = 0;
    for (const LaneRange node :
         nodes_of(lanes, lanes_of_learner(lanes, learner, learners_.size()))) {
      nodes_.push_back({node, learner, number++});
    }
  }
  own_ = lanes_of_learner(lanes, learners_.rank(), learners_.size());
  return own_;
}

/// Number i of this learner's values.
Tensor LaneSum::value(std::size_t i) {
  while (values_.size() <= i) {
    values_.push_back(operators_.allocate(1, elements_, DType::kFloat32));
  }
  return values_[i].view();
}

void LaneSum::join() {
  join_halves(lanes_, own_nodes_, [&](std::size_t i) { operators_.add(value(i + 1), value(i)); });
}

Tensor LaneSum::next() {
  join();
  const std::int64_t lane =
      own_nodes_.empty() ? own_.first : own_nodes_.back().first + own_nodes_.back().count;
  own_nodes_.push_back({lane, 1});
  const Tensor zeros = value(own_nodes_.size() - 1);
  operators_.zero(zeros);
  return zeros;
}

Tensor LaneSum::sum() {
  join();
  if (learners_.size() > 1) {
    const std::int64_t longest = longest_shard(elements_, learners_.size());
    for (std::int64_t done = 0; done < longest; done += kExchangedAtOnce) add_part(done);
  }
  const FlatRange own = shard_of(elements_, learners_.rank(), learners_.size());
  return value(0).elements_at(own.first, own.count);
}

/// The elements of `learner`'s shard from `done` on.
Tensor LaneSum::part_of(Tensor whole, int learner, std::int64_t done) const {
  const FlatRange part = part_of_shard(shard_of(elements_, learner, learners_.size()), done);
  return whole.elements_at(part.first, part.count);
}

/// A part of this learner's shard, of every node of all learners.
std::vector<Tensor> LaneSum::exchange_part(std::int64_t done) {
  const int me = learners_.rank();
  const std::int64_t count = part_of(value(0), me, done).elements();
  std::vector<Tensor> parts;
  for (const Node& node : nodes_) {
    while (arrived_.size() <= parts.size()) {
      arrived_.push_back(operators_.allocate(1, kExchangedAtOnce, DType::kFloat32));
    }
    parts.push_back(node.learner == me ? part_of(value(node.number), me, done)
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
    for (int learner = 0; number < own_nodes_.size() && learner < learners_.size(); ++learner) {
      out[static_cast<std::size_t>(learner)] =
          operators_.span(part_of(value(number), learner, done));
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
  const Tensor own = part_of(value(0), learners_.rank(), done);
  if (values.front().data != own.data) operators_.copy(values.front(), own);
}

}  // namespace lie
