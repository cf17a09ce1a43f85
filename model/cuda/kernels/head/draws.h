// Draws a token of each row, bit-identical to cpu::RowSampler (model/cpu/sampling.cpp).
#pragma once

#include <bit>
#include <cstdint>

#include "model/cuda/kernels/head/likeliest.h"
#include "model/cuda/kernels/head/softmax.h"
#include "model/cuda/kernels/numbers.h"
#include "model/cuda/kernels/philox.h"
#include "model/operators/sampling.h"

namespace lie::cuda {

/// The arguments that the kernels of sampling share. Each draw has a softmax of its own, because
/// several draws may use one row at different temperatures.
struct DrawRows {
  static constexpr std::int64_t kBlock = 64;  // probabilities that are summed first

  Rows<const float> logits;
  std::int64_t vocabulary;
  const Draw* draws;
  float* log_sums;  // [draws]

  /// Maps a draw to its logits.
  LIE_ROW ScaledLogits operator()(std::int64_t i) const {
    return {logits[draws[i].row], vocabulary, 1.0f / draws[i].log_prob_temperature()};
  }
  LIE_ROW bool finite(std::int64_t i) const { return log_sums[i] - log_sums[i] == 0; }
  LIE_ROW bool from_all(std::int64_t i) const {
    return finite(i) && !draws[i].greedy() && draws[i].from_all();
  }
  LIE_ROW bool from_likeliest(std::int64_t i) const {
    return finite(i) && !draws[i].greedy() && !draws[i].from_all();
  }
  /// All tokens below this probability together hold less than 1 - top_p, so top_p drops them.
  LIE_ROW double floor(std::int64_t i) const {
    const Draw& how = draws[i];
    return how.top_k == 0 ? (1 - how.top_p) / static_cast<double>(vocabulary) : 0.0;
  }
  LIE_ROW float probability(const ScaledLogits& z, std::int64_t i, std::int64_t token) const {
    return exp_of(z.log_prob(token, log_sums[i]));
  }
  LIE_ROW std::int64_t blocks() const { return (vocabulary + kBlock - 1) / kBlock; }
  LIE_ROW int size_of(std::int64_t block) const {
    const std::int64_t left = vocabulary - block * kBlock;
    return static_cast<int>(left < kBlock ? left : kBlock);
  }
};

/// Completes the softmax of a draw and chooses which tokens FindLikely finds: those not below a
/// bound that the likeliest tokens of seven parts in eight reach. If likely tokens were spread
/// evenly over a vocabulary of 150,000, that would be about 150 tokens.
struct DrawLogSums {
  DrawRows rows;
  SoftmaxParts parts;
  LikelyTokens* found;

  std::int64_t shared_bytes() const { return parts.shared_bytes(); }
  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t i) const {
    const SoftmaxParts here = parts.in_shared(block, i);
    block.rows(1, [&](const auto& lanes, std::int64_t) {
      const std::int64_t rank = parts.count - parts.count / 8 - 1;
      const float least = rows.draws[i].from_all() ? 0.0f : here.ranked(lanes, 0, rank);
      const float log_sum = here.softmax(lanes, 0).log_sum;
      lanes.once([&] {
        rows.log_sums[i] = log_sum;
        found[i].least = least;
        found[i].begin = TokenKey{std::bit_cast<std::uint32_t>(exp_of(least - log_sum))} << 32;
        found[i].count = 0;
      });
    });
  }
};

/// Finds the likeliest tokens for draws with top_k or top_p.
struct FindLikely {
  static constexpr std::int64_t kParts = 16;  // of a thread block

  DrawRows rows;
  SoftmaxParts parts;
  LikelyTokens* found;

  LIE_ROW std::int64_t items_per_draw() const { return (parts.count + kParts - 1) / kParts; }
  std::int64_t shared_bytes() const { return 0; }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const std::int64_t i = item / items_per_draw(), first = item % items_per_draw() * kParts;
    if (!rows.from_likeliest(i)) return;
    const std::int64_t left = parts.count - first;
    block.rows(left < kParts ? left : kParts, [&](const auto& lanes, std::int64_t part) {
      lanes.each([&](int lane) { find(block, i, first + part, lane); });
    });
  }

 private:
  template <typename Block>
  LIE_ROW void find(const Block& block, std::int64_t i, std::int64_t part, int lane) const {
    const float slack = 1e-3f;  // far more than exp_of() deviates from monotonicity
    LikelyTokens& to = found[i];
    const float from = to.least - slack, log_sum = rows.log_sums[i];
    const double floor = rows.floor(i);
    std::int64_t token = part * kPart + lane - kLanes;
    each_of_part<16>(rows(i), part, lane, [&](float z) {
      token += kLanes;
      if (z < from) return;
      const float p = exp_of(z - log_sum);
      if (!(p > 0) || static_cast<double>(p) < floor || key_of(p, token) < to.begin) return;
      const std::int32_t place = block.add(to.count);
      if (place < TokenWindow::kKeys) to.keys[place] = key_of(p, token);
    });
  }
};

/// Sums the probabilities of blocks of tokens, for draws from all tokens. A thread block sums
/// kBlocks of them: lanes add columns sixteen apart, and then a thread per block adds the lanes.
struct DrawSums {
  static constexpr std::int64_t kBlocks = 64;
  static constexpr std::int64_t kPitch = kLanes + 1;  // avoids bank conflicts in shared memory

  DrawRows rows;
  double* sums;  // [draws, blocks]

  LIE_ROW std::int64_t items_per_draw() const { return (rows.blocks() + kBlocks - 1) / kBlocks; }
  std::int64_t shared_bytes() const { return kBlocks * kPitch * 4; }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t item) const {
    const std::int64_t i = item / items_per_draw(), first = item % items_per_draw() * kBlocks;
    if (!rows.from_all(i)) return;
    const ScaledLogits z = rows(i);
    const std::int64_t left = rows.blocks() - first, count = left < kBlocks ? left : kBlocks;
    float* const by_lane = static_cast<float*>(block.memory);
    block.rows(count, [&](const auto& lanes, std::int64_t b) {
      lanes.each([&](int lane) { by_lane[b * kPitch + lane] = sum_of(z, i, first + b, lane); });
    });
    block.sync();
    block.each(count, [&](std::int64_t b) {
      sums[i * rows.blocks() + first + b] = add_lanes(z, i, first + b, by_lane + b * kPitch);
    });
  }

 private:
  LIE_ROW float sum_of(const ScaledLogits& z, std::int64_t i, std::int64_t block, int lane) const {
    constexpr int kEach = DrawRows::kBlock / kLanes;
    const int size = rows.size_of(block);
    float x[kEach], sum = 0;
    for (int c = 0; c < kEach; ++c) {
      x[c] =
          (c + 1) * kLanes <= size ? z(block * DrawRows::kBlock + c * kLanes + lane) : -kInfinity;
    }
    for (int c = 0; c < kEach; ++c) sum += exp_of(x[c] - rows.log_sums[i]);
    return sum;
  }
  /// Adds the lanes and then the last columns, which do not fill all lanes.
  LIE_ROW double add_lanes(const ScaledLogits& z, std::int64_t i, std::int64_t block,
                           const float* by_lane) const {
    double sum = 0;
    for (int lane = 0; lane < kLanes; ++lane) sum += static_cast<double>(by_lane[lane]);
    const int size = rows.size_of(block);
    for (int c = size - size % kLanes; c < size; ++c) {
      sum += static_cast<double>(rows.probability(z, i, block * DrawRows::kBlock + c));
    }
    return sum;
  }
};

/// Draws a token for each draw.
struct DrawTokens {
  DrawRows rows;
  SoftmaxParts parts;
  const double* sums;         // of DrawSums
  const LikelyTokens* found;  // of FindLikely
  std::int32_t* ids;
  float* log_probs;

  /// Shared memory of a draw from all tokens.
  struct FromAll {
    float probabilities[DrawRows::kBlock];  // of the block that holds the token
    std::int64_t block;
  };
  std::int64_t shared_bytes() const {
    constexpr std::int64_t kWindow = sizeof(TokenWindow);
    const std::int64_t from_all = static_cast<std::int64_t>(sizeof(FromAll)) + rows.blocks() * 8;
    return from_all > kWindow ? from_all : kWindow;
  }

  template <typename Block>
  LIE_ROW void operator()(const Block& block, std::int64_t i) const {
    const Draw& how = rows.draws[i];
    const ScaledLogits z = rows(i);
    const bool finite = rows.finite(i);
    std::int64_t id = 0;  // set in the thread of once()
    if (rows.from_all(i)) {
      id = drawn(block, z, i);
    } else if (finite && how.greedy()) {
      block.rows(1, [&](const auto& lanes, std::int64_t) { id = likeliest(lanes, z, i); });
    } else if (finite) {
      id = drawn_from_likeliest(block, z, i);
    }
    block.once([&] {
      ids[i] = static_cast<std::int32_t>(id);
      log_probs[i] = finite ? z.log_prob(id, rows.log_sums[i]) : NAN;
    });
  }

 private:
  static constexpr int kAtOnce = 16;

  template <typename Block>
  LIE_ROW std::int64_t drawn(const Block& block, const ScaledLogits& z, std::int64_t i) const {
    FromAll& shared = *static_cast<FromAll*>(block.memory);
    double* const of_blocks = reinterpret_cast<double*>(&shared + 1);
    block.each(rows.blocks(), [&](std::int64_t b) { of_blocks[b] = sums[i * rows.blocks() + b]; });
    block.sync();
    double left = 0;  // set in the thread of once()
    block.once([&] {
      left = static_cast<double>(uniform_of(rows.draws[i].key)) * total(of_blocks);
      shared.block = take_blocks(of_blocks, left);
    });
    block.sync();
    const std::int64_t first = shared.block * DrawRows::kBlock;
    const int size = rows.size_of(shared.block);
    block.each(
        size, [&](std::int64_t c) { shared.probabilities[c] = rows.probability(z, i, first + c); });
    block.sync();
    std::int64_t chosen = first;
    block.once([&] { chosen += take_tokens(shared.probabilities, size, left); });
    return chosen;
  }
  LIE_ROW double total(const double* of_blocks) const {
    double sum = 0;
    std::int64_t b = 0;
    for (; b + kAtOnce <= rows.blocks(); b += kAtOnce) {
      for (int c = 0; c < kAtOnce; ++c) sum += of_blocks[b + c];
    }
    for (; b < rows.blocks(); ++b) sum += of_blocks[b];
    return sum;
  }
  /// Returns the block that holds the token. Subtracts the sums of the blocks before it from
  /// `left`. Sums are not negative, so a negative rest stays negative and several can be tried at
  /// once.
  LIE_ROW std::int64_t take_blocks(const double* of_blocks, double& left) const {
    std::int64_t b = 0;
    for (; b + kAtOnce < rows.blocks(); b += kAtOnce) {
      double rest = left;
      for (int c = 0; c < kAtOnce; ++c) rest -= of_blocks[b + c];
      if (!(rest >= 0)) break;
      left = rest;
    }
    while (b + 1 < rows.blocks() && left >= of_blocks[b]) left -= of_blocks[b++];
    return b;
  }
  /// Returns the token within its block. Because of rounding, `left` may exceed what the block
  /// holds. The last token with positive probability is drawn then.
  LIE_ROW static int take_tokens(const float* probabilities, int size, double left) {
    int chosen = 0;
    for (int c = 0; c < size && left >= 0; ++c) {
      if (probabilities[c] <= 0) continue;
      chosen = c;
      left -= static_cast<double>(probabilities[c]);
    }
    return chosen;
  }
  template <typename Block>
  LIE_ROW std::int64_t drawn_from_likeliest(const Block& block, const ScaledLogits& z,
                                            std::int64_t i) const {
    const Draw& how = rows.draws[i];
    const auto probability_at = [&](std::int64_t token) { return rows.probability(z, i, token); };
    Likeliest likeliest(block, probability_at, rows.vocabulary, rows.floor(i), found[i],
                        *static_cast<TokenWindow*>(block.memory));
    return likeliest.draw(how, uniform_of(how.key));
  }
  /// Returns the likeliest token, the first of equals. Only the part that contains it is read
  /// again.
  template <typename Lanes>
  LIE_ROW std::int64_t likeliest(const Lanes& lanes, const ScaledLogits& z, std::int64_t i) const {
    const float top = parts.largest(lanes, i);
    const float* const best = parts.best + i * parts.count;
    std::int64_t part = 0;
    while (best[part] < top) ++part;
    typename Lanes::template PerLane<float> first;  // column of the part
    lanes.each([&](int lane) {
      float column = static_cast<float>(lane);
      first[lane] = kInfinity;
      each_of_part<16>(z, part, lane, [&](float of_column) {
        first[lane] = of_column >= top ? smaller(first[lane], column) : first[lane];
        column += kLanes;
      });
    });
    return part * kPart + static_cast<std::int64_t>(lanes.fold(first, smaller));
  }
};

}  // namespace lie::cuda
