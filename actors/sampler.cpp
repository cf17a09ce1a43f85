#include "actors/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/log_softmax.h"

namespace lie {
namespace {

constexpr std::size_t kBlock = 64;
constexpr std::size_t kLanes = 16;

// Sums in lanes of fixed order, so that vector registers of any width give the same bits.
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

void describe(FieldList& fields, SamplingOptions& options) {
  fields.add("temperature", options.temperature,
             {.help = "Logits are divided by this; 0 takes the likeliest token.", .min = 0});
  fields.add("top_p", options.top_p,
             {.help = "Draw from the likeliest tokens that hold this share of the probability.",
              .min = 1e-6,
              .max = 1});
  fields.add("top_k", options.top_k,
             {.help = "Draw from this many likeliest tokens; 0: from all.", .min = 0});
  fields.add("max_response_tokens", options.max_response_tokens,
             {.help = "A response is cut at this length.", .unit = "tokens", .min = 1});
}

SampledToken Sampler::draw(std::span<const float> logits, const SamplingOptions& options,
                           float uniform) {
  const bool greedy = options.temperature == 0;
  const float temperature = greedy ? 1.0F : static_cast<float>(options.temperature);
  const float log_sum = log_sum_exp(logits, temperature);
  if (!std::isfinite(log_sum)) return {0, std::numeric_limits<float>::quiet_NaN()};
  const auto drawn = [&](std::int32_t id) {
    return SampledToken{id, log_prob(logits, temperature, id, log_sum)};
  };
  if (greedy) return drawn(likeliest(logits));
  probabilities_.resize(logits.size());
  softmax(logits, temperature, log_sum, probabilities_);
  if (options.top_p >= 1 && options.top_k == 0) return drawn(draw_from_all(uniform));
  return drawn(draw_from_likeliest(options, uniform));
}

std::int32_t Sampler::draw_from_all(float uniform) {
  const std::span<const float> all = probabilities_;
  block_sums_.clear();
  for (std::size_t i = 0; i < all.size(); i += kBlock) {
    block_sums_.push_back(block_sum(all.subspan(i, std::min(kBlock, all.size() - i))));
  }
  const double total = std::accumulate(block_sums_.begin(), block_sums_.end(), 0.0);
  double left = static_cast<double>(uniform) * total;
  std::size_t block = 0;
  while (block + 1 < block_sums_.size() && left >= block_sums_[block]) left -= block_sums_[block++];
  // Rounding may leave a little more than the block holds: then its last possible token is meant.
  std::size_t chosen = block * kBlock;
  const std::size_t end = std::min(chosen + kBlock, all.size());
  for (std::size_t i = chosen; i < end && left >= 0; ++i) {
    if (all[i] <= 0) continue;
    chosen = i;
    left -= static_cast<double>(all[i]);
  }
  return static_cast<std::int32_t>(chosen);
}

std::int32_t Sampler::draw_from_likeliest(const SamplingOptions& options, float uniform) {
  const double wanted = options.top_p * take_likeliest(options);
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

// Fills likeliest_ with the tokens that top_k leaves, or without it with at least those that top_p
// leaves; returns the probability that top_p is a share of.
double Sampler::take_likeliest(const SamplingOptions& options) {
  const bool all = options.top_k == 0;
  // Tokens below this hold together less than 1 - top_p: the nucleus does without them.
  const double floor = all ? (1 - options.top_p) / static_cast<double>(probabilities_.size()) : 0;
  heap_.clear();
  for (std::size_t id = 0; id < probabilities_.size(); ++id) {
    const auto p = static_cast<double>(probabilities_[id]);
    if (p > 0 && p >= floor) heap_.push_back(static_cast<std::int32_t>(id));
  }
  const auto less_likely = [this](std::int32_t a, std::int32_t b) {
    return probability(a) != probability(b) ? probability(a) < probability(b) : a > b;
  };
  std::make_heap(heap_.begin(), heap_.end(), less_likely);
  likeliest_.clear();
  double sum = 0;
  while (!heap_.empty() && (all ? sum < options.top_p : std::ssize(likeliest_) < options.top_k)) {
    std::pop_heap(heap_.begin(), heap_.end(), less_likely);
    likeliest_.push_back(heap_.back());
    heap_.pop_back();
    sum += probability(likeliest_.back());
  }
  return all ? 1.0 : sum;
}

}  // namespace lie
