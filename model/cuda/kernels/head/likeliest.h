// Draws from a row's likeliest tokens (top_k, top_p), bit-identical to cpu::RowSampler, without
// sorting the row. The sums run over tokens in descending order, so some tokens must be sorted.
// Many thread blocks find a first window of them, which nearly always suffices. Further windows are
// found one at a time by counting the digits of their keys.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "model/cuda/kernels/lanes.h"
#include "model/operators/sampling.h"

namespace lie::cuda {

/// The sort key of a token: larger for the likelier token, and for the lower id among equals. 0
/// means no token. Probabilities are not negative, so their bits have their order.
using TokenKey = std::uint64_t;

LIE_ROW TokenKey key_of(float probability, std::int64_t id) {
  return TokenKey{std::bit_cast<std::uint32_t>(probability)} << 32 |
         (0xffff'ffffu - static_cast<std::uint32_t>(id));
}
LIE_ROW double probability_of(TokenKey key) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)));
}
LIE_ROW std::int64_t id_of(TokenKey key) { return 0xffff'ffffu - static_cast<std::uint32_t>(key); }

/// The shared memory of a thread block: a window of its row's tokens.
struct TokenWindow {
  static constexpr int kKeys = 1024, kBins = 256;

  TokenKey keys[kKeys];      // `count` keys, the largest first
  std::int32_t bins[kBins];  // number of keys per value of a digit
  std::int32_t count, gathered;
  std::int32_t bin;  // the highest bin that exceeds the window; -1 if none does
  bool continues;
};

/// The likeliest tokens of a draw, in any order, which many thread blocks find in global memory.
struct LikelyTokens {
  TokenKey keys[TokenWindow::kKeys];  // all keys from `begin` on, unless there are too many
  TokenKey begin;
  std::int32_t count;  // of all keys from `begin` on
  float least;         // z of a token whose key is at least `begin`
};

/// Iterates over the tokens with probability of at least `floor`, or over all tokens if there are
/// none. Tokens of probability 0 are always excluded.
template <typename Block, typename Probability>
class Likeliest {
 public:
  LIE_ROW Likeliest(const Block& block, const Probability& probability, std::int64_t vocabulary,
                    double floor, const LikelyTokens& found, TokenWindow& window)
      : block_(block),
        probability_(probability),
        vocabulary_(vocabulary),
        floor_(floor),
        window_(window) {
    if (take(found) || advance()) return;
    floor_ = 0;
    rewind();
  }

  /// Returns what cpu::RowSampler draws at `uniform`. Only the thread of Block::once() receives the
  /// result.
  LIE_ROW std::int64_t draw(const Draw& how, float uniform) {
    const std::int64_t most = how.top_k == 0 ? vocabulary_ : how.top_k;
    const double whole = how.top_k == 0 ? 1.0 : accumulate(most, INFINITY).sum;
    Prefix kept = accumulate(most, how.top_p * whole);
    double left = static_cast<double>(uniform) * kept.sum;
    std::int64_t id = 0;
    walk([&](TokenKey key) {
      id = id_of(key);
      left -= probability_of(key);
      return --kept.count > 0 && left >= 0;
    });
    return id;
  }

 private:
  struct Prefix {
    double sum = 0;  // sum of probabilities
    std::int64_t count = 0;
  };
  /// Returns the sum and the number of the likeliest tokens, at least one, until there are `most`
  /// tokens or they hold `wanted`.
  LIE_ROW Prefix accumulate(std::int64_t most, double wanted) {
    Prefix prefix;
    walk([&](TokenKey key) {
      prefix.sum += probability_of(key);
      return ++prefix.count < most && prefix.sum < wanted;
    });
    return prefix;
  }
  /// Calls visit(key) in one thread, from the likeliest token on, while it returns true.
  template <typename Visit>
  LIE_ROW void walk(const Visit& visit) {
    for (bool more = end_ == kAll || rewind(); more; more = advance()) {
      block_.once([&] {
        bool continues = true;
        for (int i = 0; continues && i < window_.count; ++i) continues = visit(window_.keys[i]);
        window_.continues = continues;
      });
      block_.sync();
      const bool continues = window_.continues;
      block_.sync();
      if (!continues) return;
    }
  }

  /// Makes the tokens that were found the first window. Returns false if they don't fit.
  LIE_ROW bool take(const LikelyTokens& found) {
    if (found.count == 0 || found.count > TokenWindow::kKeys) return false;
    begin_ = found.begin;
    block_.each(found.count, [&](std::int64_t i) { window_.keys[i] = found.keys[i]; });
    block_.once([&] { window_.count = found.count; });
    block_.sync();
    sort();
    return true;
  }
  LIE_ROW bool rewind() {
    begin_ = kAll;
    return advance();
  }
  /// Moves to the window of the next tokens. Returns false if there are none.
  LIE_ROW bool advance() {
    end_ = begin_;
    TokenKey first = 0, last = end_;
    for (int shift = 55;; shift -= 8) {  // starting with the exponent's bits
      count_digits(first, last, shift);
      begin_ = first + (static_cast<TokenKey>(window_.bin + 1) << shift);
      if (window_.count > 0 || window_.bin < 0) break;
      // One digit value has too many keys, which are split by the next digit.
      if (begin_ < last) last = begin_;
      first = begin_ - (TokenKey{1} << shift);
    }
    each_key(begin_, end_, [&](TokenKey key) { window_.keys[block_.add(window_.gathered)] = key; });
    sort();
    return window_.count > 0;
  }

  /// Calls f(key) for the tokens whose keys are in [first, last). A thread has kAtOnce loads in
  /// flight.
  template <typename F>
  LIE_ROW void each_key(TokenKey first, TokenKey last, const F& f) const {
    constexpr int kAtOnce = 8;
    const std::int64_t apart = (vocabulary_ + kAtOnce - 1) / kAtOnce;
    block_.each(apart, [&](std::int64_t i) {
      float p[kAtOnce];
      for (int c = 0; c < kAtOnce; ++c) {
        p[c] = i + c * apart < vocabulary_ ? probability_(i + c * apart) : 0.0f;
      }
      for (int c = 0; c < kAtOnce; ++c) {
        if (!(p[c] > 0) || !(static_cast<double>(p[c]) >= floor_)) continue;
        const TokenKey key = key_of(p[c], i + c * apart);
        if (key >= first && key < last) f(key);
      }
    });
  }
  /// Counts the keys in [first, last) by the digit at `shift`. Sets window_.count to the number of
  /// keys with the highest digit values, as many values as fit into a window.
  LIE_ROW void count_digits(TokenKey first, TokenKey last, int shift) {
    block_.each(TokenWindow::kBins, [&](std::int64_t bin) { window_.bins[bin] = 0; });
    block_.sync();
    each_key(first, last, [&](TokenKey key) { block_.add(window_.bins[(key - first) >> shift]); });
    block_.sync();
    block_.once([&] {
      int bin = TokenWindow::kBins - 1, count = 0;
      for (; bin >= 0 && count + window_.bins[bin] <= TokenWindow::kKeys; --bin) {
        count += window_.bins[bin];
      }
      window_.bin = bin;
      window_.count = count;
      window_.gathered = 0;
    });
    block_.sync();
  }
  /// Sorts the window with Batcher's bitonic sort, the largest first.
  LIE_ROW void sort() {
    int size = 2;
    while (size < window_.count) size *= 2;
    TokenKey* const keys = window_.keys;
    block_.each(size - window_.count, [&](std::int64_t i) { keys[window_.count + i] = 0; });
    block_.sync();
    for (int run = 2; run <= size; run *= 2) {
      for (int step = run / 2; step > 0; step /= 2) {
        block_.each(size / 2, [&](std::int64_t i) {
          const int item = static_cast<int>(i), a = 2 * item - (item & (step - 1)), b = a + step;
          const TokenKey of_a = keys[a], of_b = keys[b];
          if ((of_a < of_b) != ((a & run) == 0)) return;
          keys[a] = of_b;
          keys[b] = of_a;
        });
        block_.sync();
      }
    }
  }

  static constexpr TokenKey kAll = ~TokenKey{0};

  const Block& block_;
  const Probability& probability_;
  const std::int64_t vocabulary_;
  double floor_;
  TokenWindow& window_;
  // The window contains the keys in [begin_, end_).
  TokenKey begin_ = kAll, end_ = kAll;
};

}  // namespace lie::cuda
