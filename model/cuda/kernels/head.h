// Row functions of the head: log-sum-exp, entropy, their gradient, and drawing a token. Each is
// bit-identical to the CPU operators (model/cpu/kernels/row_kernels.cpp, sampling.cpp). Sampler and
// learner use the same function for log-probs. Logits are fp32.
#pragma once

#include <cstdint>
#include <type_traits>

#include "model/cuda/kernels/likeliest.h"
#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/philox.h"
#include "model/operators/sampling.h"

namespace lie::cuda {

struct Softmax {
  float log_sum, entropy;  // logsumexp(z), nats
};

/// z = logits * inverse_temperature of one row.
struct ScaledLogits {
  const float* logits;
  std::int64_t vocabulary;
  float inverse_temperature;

  LIE_ROW float operator()(std::int64_t i) const { return logits[i] * inverse_temperature; }
  LIE_ROW float log_prob(std::int64_t token, float log_sum) const { return (*this)(token)-log_sum; }
};

/// The number of columns in a part, whose terms are summed before they are added to the rest.
constexpr std::int64_t kPart = 16 * 128;

/// The shared memory of a row's parts: the largest z of each part, and its sums by lane.
struct SoftmaxParts {
  std::int64_t count;
  float *best, *sums, *weighted;
  Softmax* result;

  LIE_ROW static std::int64_t count_of(std::int64_t vocabulary) {
    return (vocabulary + kPart - 1) / kPart;
  }
  LIE_ROW static std::int64_t bytes(std::int64_t vocabulary) {
    return count_of(vocabulary) * (1 + 2 * kLanes) * 4 + 8;
  }
  LIE_ROW SoftmaxParts(float* memory, std::int64_t vocabulary)
      : count(count_of(vocabulary)),
        best(memory),
        sums(best + count),
        weighted(sums + count * kLanes),
        result(reinterpret_cast<Softmax*>(weighted + count * kLanes)) {}
};

/// Calls f(column) for a lane's columns of a part. The last column may be past the end.
template <typename F>
LIE_ROW void each_of_part(std::int64_t part, std::int64_t vocabulary, int lane, const F& f) {
  const std::int64_t first = part * kPart;
  const std::int64_t end = first + kPart < vocabulary ? first + kPart : vocabulary;
  for (std::int64_t i = first + lane; i - lane < end; i += kLanes) f(i);
}

/// Computes the softmax statistics of a row. All threads receive the result.
template <typename Block>
LIE_ROW Softmax softmax_of(const Block& block, const ScaledLogits& z, const SoftmaxParts& parts) {
  const auto z_at = [&](std::int64_t i) { return i < z.vocabulary ? z(i) : -kInfinity; };
  block.rows(parts.count, [&](const auto& lanes, std::int64_t part) {
    typename std::remove_cvref_t<decltype(lanes)>::template PerLane<float> best;
    lanes.each([&](int lane) {
      best[lane] = -kInfinity;
      each_of_part(part, z.vocabulary, lane,
                   [&](std::int64_t i) { best[lane] = larger(best[lane], z_at(i)); });
    });
    const float top = lanes.fold(best, larger);
    lanes.once([&] { parts.best[part] = top; });
  });
  block.sync();
  float top = -kInfinity;
  for (std::int64_t part = 0; part < parts.count; ++part) top = larger(top, parts.best[part]);
  block.rows(parts.count, [&](const auto& lanes, std::int64_t part) {
    lanes.each([&](int lane) {
      float sum = 0, weighted = 0;
      each_of_part(part, z.vocabulary, lane, [&](std::int64_t i) {
        const float shifted = z_at(i) - top, e = exp_of(shifted);
        sum += e;
        weighted = fmaf(e, larger(-1e30f, shifted), weighted);
      });
      parts.sums[part * kLanes + lane] = sum;
      parts.weighted[part * kLanes + lane] = weighted;
    });
  });
  block.sync();
  block.rows(1, [&](const auto& lanes, std::int64_t) {
    typename std::remove_cvref_t<decltype(lanes)>::template PerLane<float> sum, weighted;
    lanes.each([&](int lane) {
      for (std::int64_t part = 0; part < parts.count; ++part) {
        sum[lane] += parts.sums[part * kLanes + lane];
        weighted[lane] += parts.weighted[part * kLanes + lane];
      }
    });
    const float total = lanes.fold(sum, plus), share = lanes.fold(weighted, plus) / total;
    const float log_total = log_of(total);
    lanes.once([&] { *parts.result = {top + log_total, log_total - share}; });
  });
  block.sync();
  return *parts.result;
}

struct LogProbs {
  Rows<const float> logits;
  std::int64_t vocabulary;
  const std::int32_t* targets;
  float inverse_temperature;
  float *log_probs, *entropies, *log_sums;

  std::int64_t shared_bytes() const { return SoftmaxParts::bytes(vocabulary); }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t row) const {
    const ScaledLogits z{logits[row], vocabulary, inverse_temperature};
    const Softmax softmax =
        softmax_of(block, z, SoftmaxParts(static_cast<float*>(block.memory), vocabulary));
    block.once([&] {
      log_sums[row] = softmax.log_sum;
      entropies[row] = softmax.entropy;
      log_probs[row] = z.log_prob(targets[row], softmax.log_sum);
    });
  }
};

/// Replaces the logits by d(loss)/d(logits), element by element.
struct LogProbsBackward {
  Rows<float> logits;
  std::int64_t vocabulary;
  const std::int32_t* targets;
  float inverse_temperature;
  const float *entropies, *log_sums, *d_log_probs, *d_entropies;

  LIE_ROW void operator()(std::int64_t element) const {
    const std::int64_t row = element / vocabulary, i = element % vocabulary;
    const ScaledLogits z{logits[row], vocabulary, inverse_temperature};
    const float log_p = z.log_prob(i, log_sums[row]);
    const float slope =
        fmaf(d_entropies[row], larger(-1e30f, log_p) + entropies[row], d_log_probs[row]);
    float d = exp_of(log_p) * slope * -inverse_temperature;
    if (i == targets[row]) d += d_log_probs[row] * inverse_temperature;
    logits[row][i] = d;
  }
};

/// Draws a token for each draw, bit-identical to cpu::RowSampler.
struct DrawTokens {
  static constexpr std::int64_t kBlock = 64;  // probabilities that are summed first

  Rows<const float> logits;
  std::int64_t vocabulary;
  const Draw* draws;
  std::int32_t* ids;
  float* log_probs;

  LIE_ROW std::int64_t blocks() const { return (vocabulary + kBlock - 1) / kBlock; }
  /// Returns the bytes for the blocks' sums or for a window of the likeliest tokens.
  LIE_ROW std::int64_t draw_bytes() const {
    constexpr std::int64_t kWindow = sizeof(TokenWindow);
    return blocks() * 8 > kWindow ? blocks() * 8 : kWindow;
  }
  std::int64_t shared_bytes() const { return draw_bytes() + SoftmaxParts::bytes(vocabulary); }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t i) const {
    const Draw& how = draws[i];
    const float temperature = how.temperature == 0 ? 1.0f : how.temperature;
    const ScaledLogits z{logits[how.row], vocabulary, 1.0f / temperature};
    char* const after_draw = static_cast<char*>(block.memory) + draw_bytes();
    const SoftmaxParts parts(reinterpret_cast<float*>(after_draw), vocabulary);
    const float log_sum = softmax_of(block, z, parts).log_sum;
    const bool finite = log_sum - log_sum == 0;
    std::int64_t id = 0;  // set in the thread of once()
    if (finite && how.temperature == 0) {
      block.once([&] { id = likeliest(z, parts); });
    } else if (finite && how.from_all()) {
      double* const sums = static_cast<double*>(block.memory);
      block.each(blocks(), [&](std::int64_t b) { sums[b] = sum_of(z, log_sum, b); });
      block.sync();
      block.once([&] { id = drawn(z, log_sum, sums, uniform_of(how.key)); });
    } else if (finite) {
      id = drawn_from_likeliest(block, z, log_sum, how);
    }
    block.once([&] {
      ids[i] = static_cast<std::int32_t>(id);
      log_probs[i] = finite ? z.log_prob(id, log_sum) : NAN;
    });
  }

 private:
  LIE_ROW static float probability(const ScaledLogits& z, float log_sum, std::int64_t i) {
    return exp_of(z.log_prob(i, log_sum));
  }
  LIE_ROW std::int64_t end_of(std::int64_t block) const {
    const std::int64_t end = (block + 1) * kBlock;
    return end < vocabulary ? end : vocabulary;
  }
  LIE_ROW double sum_of(const ScaledLogits& z, float log_sum, std::int64_t block) const {
    float lanes[kLanes] = {};
    std::int64_t i = block * kBlock;
    for (; i + kLanes <= end_of(block); i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += probability(z, log_sum, i + lane);
    }
    double sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += static_cast<double>(lanes[lane]);
    for (; i < end_of(block); ++i) sum += static_cast<double>(probability(z, log_sum, i));
    return sum;
  }
  LIE_ROW std::int64_t drawn(const ScaledLogits& z, float log_sum, const double* sums,
                             float uniform) const {
    double total = 0;
    for (std::int64_t b = 0; b < blocks(); ++b) total += sums[b];
    double left = static_cast<double>(uniform) * total;
    std::int64_t block = 0;
    while (block + 1 < blocks() && left >= sums[block]) left -= sums[block++];
    // Because of rounding, `left` may exceed what the block holds. The last token with positive
    // probability is drawn then.
    std::int64_t chosen = block * kBlock;
    for (std::int64_t i = chosen; i < end_of(block) && left >= 0; ++i) {
      const float p = probability(z, log_sum, i);
      if (p <= 0) continue;
      chosen = i;
      left -= static_cast<double>(p);
    }
    return chosen;
  }
  template <typename Block>
  LIE_ROW std::int64_t drawn_from_likeliest(const Block& block, const ScaledLogits& z,
                                            float log_sum, const Draw& how) const {
    const auto probability_at = [&](std::int64_t i) { return probability(z, log_sum, i); };
    // All tokens below this probability together hold less than 1 - top_p, so top_p drops them.
    const double floor = how.top_k == 0 ? (1 - how.top_p) / static_cast<double>(vocabulary) : 0.0;
    Likeliest likeliest(block, probability_at, vocabulary, floor,
                        *static_cast<TokenWindow*>(block.memory));
    return likeliest.draw(how, uniform_of(how.key));
  }
  /// Returns the likeliest token, the first of equals. Only the part that contains it is read
  /// again.
  LIE_ROW std::int64_t likeliest(const ScaledLogits& z, const SoftmaxParts& parts) const {
    std::int64_t best = 0;
    for (std::int64_t part = 1; part < parts.count; ++part) {
      if (parts.best[part] > parts.best[best]) best = part;
    }
    std::int64_t i = best * kPart;
    while (z(i) < parts.best[best]) ++i;
    return i;
  }
};

}  // namespace lie::cuda
