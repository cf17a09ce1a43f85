#include "model/cpu/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/cpu/operators.h"

namespace lie::cpu {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kLanes = 16;

// Sums in lanes in a fixed order, so that vector registers of any width give the same bits.
double block_sum(std::span<const float> values) {
  std::array<float, kLanes> lanes{};
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[i + lane];
  }
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  for (std::size_t i = whole; i < values.size(); ++i) sum += static_cast<double>(values[i]);
  return sum;
}

std::int32_t likeliest(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

Sample RowSampler::draw(std::span<const float> logits, const Draw& how) {
  const auto vocabulary = static_cast<std::int64_t>(logits.size());
  const float inverse_temperature = 1.0F / how.log_prob_temperature();
  const float log_sum = softmax_statistics(logits.data(), vocabulary, inverse_temperature).log_sum;
  if (!std::isfinite(log_sum)) return {0, std::numeric_limits<float>::quiet_NaN()};
  const auto drawn = [&](std::int32_t id) {
    return Sample{id, log_prob(logits.data(), inverse_temperature, id, log_sum)};
  };
  if (how.greedy()) return drawn(likeliest(logits));
  probabilities_.resize(logits.size());
  softmax_probabilities(logits.data(), vocabulary, inverse_temperature, log_sum,
                        probabilities_.data());
  const float uniform = random_uniform(how.key);
  return drawn(how.from_all() ? draw_from_all(uniform) : draw_from_likeliest(how, uniform));
}

std::int32_t RowSampler::draw_from_all(float uniform) {
  const std::span<const float> all = probabilities_;
  block_sums_.clear();
  for (std::size_t i = 0; i < all.size(); i += kBlock) {
    block_sums_.push_back(block_sum(all.subspan(i, std::min(kBlock, all.size() - i))));
  }
  const double total = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
  double left = static_cast<double>(uniform) * total;
  std::size_t block = 0;
  while (block + 1 < block_sums_.size() && left >= block_sums_[block]) left -= block_sums_[block++];
  // Because of rounding, `left` may exceed what the block holds. The last token with positive
  // probability is drawn then.
  std::size_t chosen = block * kBlock;
  const std::size_t end = std::min(chosen + kBlock, all.size());
  for (std::size_t i = chosen; i < end && left >= 0; ++i) {
    if (all[i] <= 0) continue;
    chosen = i;
    left -= static_cast<double>(all[i]);
  }
  return static_cast<std::int32_t>(chosen);
}

std::int32_t RowSampler::draw_from_likeliest(const Draw& how, float uniform) {
  const double wanted = how.top_p * fill_likeliest(how);
  double kept = 0;
  std::size_t count = 0;
  while (count < likeliest_.size() && (count == 0 || kept < wanted)) {
    kept += probability(likeliest_[count++]);
  }
  double left = static_cast<double>(uniform) * kept;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < count && left >= 0; ++i) {
    chosen = i;
    left -= probability(likeliest_[i]);
  }
  return likeliest_[chosen];
}

// Fills likeliest_ with the tokens that top_k keeps or, without top_k, with at least those that
// top_p keeps. Returns the probability that top_p is a share of.
double RowSampler::fill_likeliest(const Draw& how) {
  const bool all = how.top_k == 0;
  // All tokens below this probability together hold less than 1 - top_p, so top_p drops them.
  const double floor = all ? (1 - how.top_p) / static_cast<double>(probabilities_.size()) : 0;
  collect(floor);
  if (heap_.empty()) collect(0);  // equally likely tokens that rounding put below the floor
  const auto less_likely = [this](std::int32_t a, std::int32_t b) {
    return probability(a) != probability(b) ? probability(a) < probability(b) : a > b;
  };
  std::make_heap(heap_.begin(), heap_.end(), less_likely);
  likeliest_.clear();
  double sum = 0;
  while (!heap_.empty() && (all ? sum < how.top_p : std::ssize(likeliest_) < how.top_k)) {
    std::pop_heap(heap_.begin(), heap_.end(), less_likely);
    likeliest_.push_back(heap_.back());
    heap_.pop_back();
    sum += probability(likeliest_.back());
  }
  return all ? 1.0 : sum;
}

void RowSampler::collect(double floor) {
  heap_.clear();
  for (std::size_t id = 0; id < probabilities_.size(); ++id) {
    const auto p = static_cast<double>(probabilities_[id]);
    if (p > 0 && p >= floor) heap_.push_back(static_cast<std::int32_t>(id));
  }
}

void CpuOperators::bar(Tensor logits, Indices rows, Indices ids) {
  for (const std::int32_t r : std::span(rows.data, static_cast<std::size_t>(rows.count))) {
    for (const std::int32_t id : std::span(ids.data, static_cast<std::size_t>(ids.count))) {
      row(logits, r)[id] = -std::numeric_limits<float>::infinity();
    }
  }
}

void CpuOperators::sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) {
  const auto count = static_cast<std::int64_t>(draws.size());
  auto* ids = static_cast<std::int32_t*>(drawn.ids.data);
  split(count, 1, 2 * count * logits.cols, [&](Range range, int member) {
    RowSampler& sampler = samplers_[static_cast<std::size_t>(member)];
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Draw& how = draws[static_cast<std::size_t>(i)];
      const Sample sample =
          sampler.draw({row(logits, how.row), static_cast<std::size_t>(logits.cols)}, how);
      ids[i] = sample.id;
      floats(drawn.log_probs)[i] = sample.log_prob;
    }
  });
}

}  // namespace lie::cpu
