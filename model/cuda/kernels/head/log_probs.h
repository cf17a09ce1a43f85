// Log-probs of tokens and their gradient, bit-identical to the CPU operators. Sampler and learner
// use the same functions.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/head/softmax.h"
#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/packs.h"

namespace lie::cuda {

/// Maps a row to its logits at one temperature.
struct LogitRows {
  Rows<const float> logits;
  std::int64_t vocabulary;
  float inverse_temperature;

  LIE_ROW ScaledLogits operator()(std::int64_t row) const {
    return {logits[row], vocabulary, inverse_temperature};
  }
};

struct LogProbs {
  LogitRows z_of;
  SoftmaxParts parts;
  const std::int32_t* targets;
  float *log_probs, *entropies, *log_sums;

  std::int64_t shared_bytes() const { return parts.shared_bytes(); }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t row) const {
    const SoftmaxParts here = parts.in_shared(block, row);
    block.rows(1, [&](const auto& lanes, std::int64_t) {
      const Softmax softmax = here.softmax(lanes, 0);
      lanes.once([&] {
        log_sums[row] = softmax.log_sum;
        entropies[row] = softmax.entropy;
        log_probs[row] = z_of(row).log_prob(targets[row], softmax.log_sum);
      });
    });
  }
};

/// Replaces the logits by d(loss)/d(logits), pack by pack.
struct LogProbsBackward {
  static constexpr int kSize = kPack<float>;
  Rows<float> logits;
  const std::int32_t* targets;
  float inverse_temperature;
  const float *entropies, *log_sums, *d_log_probs, *d_entropies;

  template <int N>
  LIE_ROW void operator()(std::int64_t row, std::int64_t i, Count<N> /*n*/) const {
    Floats<N> z = load<N>(logits[row] + i);
    for (int c = 0; c < N; ++c) {
      const float log_p = z[c] * inverse_temperature - log_sums[row];
      const float slope =
          fmaf(d_entropies[row], larger(-1e30f, log_p) + entropies[row], d_log_probs[row]);
      z[c] = exp_of(log_p) * slope * -inverse_temperature;
      if (i + c == targets[row]) z[c] += d_log_probs[row] * inverse_temperature;
    }
    store(z, logits[row] + i);
  }
};

}  // namespace lie::cuda
