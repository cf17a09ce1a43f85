// Log-sum-exp and entropy of rows of logits, bit-identical to the CPU operators
// (model/cpu/kernels/row_kernels.cpp). Logits are fp32. A softmax takes three kernels, so that many
// blocks share a row.
#pragma once

#include <cstdint>

#include "model/cuda/kernels/numbers.h"

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

/// Calls f(z) for a lane's columns of a part in ascending order, with kAtOnce loads in flight.
/// Columns past the end count as -infinity.
template <int kAtOnce, typename F>
LIE_ROW void each_of_part(const ScaledLogits& z, std::int64_t part, int lane, const F& f) {
  const std::int64_t left = z.vocabulary - part * kPart;
  const int columns = static_cast<int>(left < kPart ? left : kPart) - lane;
  const float* const from = z.logits + part * kPart + lane;
  const auto each = [&](const auto& at) {
    for (int first = 0; first < columns; first += kAtOnce * kLanes) {
      float x[kAtOnce];
      for (int c = 0; c < kAtOnce; ++c) x[c] = at(first + c * kLanes);
      for (int c = 0; c < kAtOnce; ++c) f(x[c] * z.inverse_temperature);
    }
  };
  if (left >= kPart) return each([&](int i) { return from[i]; });
  each([&](int i) { return i < columns ? from[i] : -kInfinity; });
}

/// The memory between the kernels of a softmax: the largest z of each part, and its sums by lane.
struct SoftmaxParts {
  std::int64_t count;      // parts of a row
  float* best;             // [rows, count]
  float *sums, *weighted;  // [rows, count, kLanes]

  static std::int64_t count_of(std::int64_t vocabulary) { return (vocabulary + kPart - 1) / kPart; }
  static std::int64_t floats_per_row(std::int64_t vocabulary) {
    return count_of(vocabulary) * (1 + 2 * kLanes);
  }
  SoftmaxParts(float* memory, std::int64_t rows, std::int64_t vocabulary)
      : count(count_of(vocabulary)),
        best(memory),
        sums(best + rows * count),
        weighted(sums + rows * count * kLanes) {}

  std::int64_t shared_bytes() const { return count * (1 + 2 * kLanes) * 4; }
  /// Copies the parts of a row to the block's memory, where they are row 0.
  template <typename Block>
  LIE_ROW SoftmaxParts in_shared(const Block& block, std::int64_t row) const {
    const std::int64_t sums_of_row = count * kLanes;
    SoftmaxParts here = *this;
    here.best = static_cast<float*>(block.memory);
    here.sums = here.best + count;
    here.weighted = here.sums + sums_of_row;
    block.each(sums_of_row, [&](std::int64_t i) {
      here.sums[i] = sums[row * sums_of_row + i];
      here.weighted[i] = weighted[row * sums_of_row + i];
      if (i < count) here.best[i] = best[row * count + i];
    });
    block.sync();
    return here;
  }
  template <typename Lanes>
  LIE_ROW float largest(const Lanes& lanes, std::int64_t row) const {
    typename Lanes::template PerLane<float> top;
    lanes.each([&](int lane) {
      top[lane] = -kInfinity;
      for (std::int64_t part = lane; part < count; part += kLanes) {
        top[lane] = larger(top[lane], best[row * count + part]);
      }
    });
    return lanes.fold(top, larger);
  }
  /// Returns the rank-th largest z of a part, where 0 is the largest.
  template <typename Lanes>
  LIE_ROW float ranked(const Lanes& lanes, std::int64_t row, std::int64_t rank) const {
    const float* const all = best + row * count;
    const int parts = static_cast<int>(count);
    typename Lanes::template PerLane<float> found;
    lanes.each([&](int lane) {
      found[lane] = -kInfinity;
      for (int part = lane; part < parts; part += kLanes) {
        const float mine = all[part];
        int before = 0;
        for (int other = 0; other < parts; ++other) {
          before += all[other] > mine || (all[other] == mine && other < part) ? 1 : 0;
        }
        if (before == rank) found[lane] = mine;
      }
    });
    return lanes.fold(found, larger);
  }
  /// Returns the sum of a lane over all parts of a row.
  LIE_ROW float sum_of(const float* of_parts, std::int64_t row, int lane) const {
    constexpr int kAtOnce = 16;
    const float* const from = of_parts + row * count * kLanes + lane;
    float sum = 0;
    for (std::int64_t first = 0; first < count; first += kAtOnce) {
      float x[kAtOnce];
      for (int c = 0; c < kAtOnce; ++c) x[c] = first + c < count ? from[(first + c) * kLanes] : 0;
      for (int c = 0; c < kAtOnce; ++c) sum += x[c];
    }
    return sum;
  }
  /// Returns the softmax statistics of a row in all lanes.
  template <typename Lanes>
  LIE_ROW Softmax softmax(const Lanes& lanes, std::int64_t row) const {
    typename Lanes::template PerLane<float> sum, weight;
    lanes.each([&](int lane) {
      sum[lane] = sum_of(sums, row, lane);
      weight[lane] = sum_of(weighted, row, lane);
    });
    const float total = lanes.fold(sum, plus), share = lanes.fold(weight, plus) / total;
    const float log_total = log_of(total);
    return {largest(lanes, row) + log_total, log_total - share};
  }
};

/// Finds the largest z of a part of a row. `z_of` maps the row to its ScaledLogits. The maximum of
/// a row with a NaN may differ from the CPU's; its softmax is NaN in any case.
template <typename ZOf>
struct LargestOfParts {
  ZOf z_of;
  SoftmaxParts parts;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    const std::int64_t row = item / parts.count, part = item - row * parts.count;
    typename Lanes::template PerLane<float> best;
    lanes.each([&](int lane) {
      float top = -kInfinity;
      each_of_part<32>(z_of(row), part, lane, [&](float z) { top = larger(top, z); });
      best[lane] = top;
    });
    const float top = lanes.fold(best, larger);
    lanes.once([&] { parts.best[item] = top; });
  }
};

/// Sums a part of a row in each lane.
template <typename ZOf>
struct SumsOfParts {
  ZOf z_of;
  SoftmaxParts parts;

  template <typename Lanes>
  LIE_ROW void operator()(const Lanes& lanes, std::int64_t item) const {
    const std::int64_t row = item / parts.count, part = item - row * parts.count;
    const float top = parts.largest(lanes, row);
    lanes.each([&](int lane) {
      float sum = 0, weighted = 0;
      each_of_part<16>(z_of(row), part, lane, [&](float z) {
        const float shifted = z - top, e = exp_of(shifted);
        sum += e;
        weighted = fmaf(e, larger(-1e30f, shifted), weighted);
      });
      parts.sums[item * kLanes + lane] = sum;
      parts.weighted[item * kLanes + lane] = weighted;
    });
  }
};

}  // namespace lie::cuda
