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
  const double wanted = options.top_p * select_candidates(options);
  double kept = 0;
  std::size_t count = 0;
  while (count < candidates_.size() && (count == 0 || kept < wanted)) {
    kept += probability(candidates_[count++]);
  }
  double left = static_cast<double>(uniform) * kept;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < count && left >= 0; ++i) {
    chosen = i;
    left -= probability(candidates_[i]);
  }
  return candidates_[chosen];
}

// Sorts the tokens that top_k leaves, and returns their probability. Without top_k, tokens below
// (1 - top_p) / V are left out: together they hold less than 1 - top_p, so the nucleus does without
// them, and sorting the few others keeps a large vocabulary cheap.
double Sampler::select_candidates(const SamplingOptions& options) {
  const bool all = options.top_k == 0;
  const double floor = all ? (1 - options.top_p) / static_cast<double>(probabilities_.size()) : 0;
  candidates_.clear();
  for (std::size_t id = 0; id < probabilities_.size(); ++id) {
    const auto p = static_cast<double>(probabilities_[id]);
    if (p > 0 && p >= floor) candidates_.push_back(static_cast<std::int32_t>(id));
  }
  const auto likelier = [this](std::int32_t a, std::int32_t b) {
    return probability(a) != probability(b) ? probability(a) > probability(b) : a < b;
  };
  const auto k = static_cast<std::size_t>(options.top_k);
  if (!all && k < candidates_.size()) {
    std::nth_element(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k),
                     candidates_.end(), likelier);
    candidates_.resize(k);
  }
  std::sort(candidates_.begin(), candidates_.end(), likelier);
  double sum = 0;
  for (const std::int32_t id : candidates_) sum += probability(id);
  return all ? 1.0 : sum;
}

}  // namespace lie
