// Drawing from a row's likeliest tokens (top_k, top_p) with the bits of cpu::RowSampler, without
// sorting the row. Its sums run over tokens in their order, so some must be sorted: a window of
// them at a time is found by counting the digits of their keys, and nearly always one will do.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "model/cuda/kernels/lanes.h"
#include "model/operators/sampling.h"

namespace lie::cuda {

/// Larger for the likelier token, of equals for the lower id; 0: none. Probabilities are not
/// negative, so their bits have their order.
using TokenKey = std::uint64_t;

LIE_ROW TokenKey key_of(float probability, std::int64_t id) {
  return TokenKey{std::bit_cast<std::uint32_t>(probability)} << 32 |
         (0xffff'ffffu - static_cast<std::uint32_t>(id));
}
LIE_ROW double probability_of(TokenKey key) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32)));
}
LIE_ROW std::int64_t id_of(TokenKey key) { return 0xffff'ffffu - static_cast<std::uint32_t>(key); }

/// What a block shares of its row's tokens.
struct TokenWindow {
  static constexpr int kKeys = 1024, kBins = 256;

  TokenKey keys[kKeys];      // `count` of them, the largest first
  std::int32_t bins[kBins];  // how many keys there are of each value of a digit
  std::int32_t count, gathered;
  std::int32_t bin;  // the first of too many, from the highest down; -1: all are taken
  bool goes_on;
};

/// Tokens of a probability of at least `floor`, or where there are none of any; those of 0 never.
template <typename Block, typename Probability>
class Likeliest {
 public:
  LIE_ROW Likeliest(const Block& block, const Probability& probability, std::int64_t vocabulary,
                    double floor, TokenWindow& window)
      : block_(block),
        probability_(probability),
        vocabulary_(vocabulary),
        floor_(floor),
        window_(window) {
    if (advance()) return;
    floor_ = 0;
    rewind();
  }

  /// What cpu::RowSampler draws at `uniform`; for the thread of Block::once() alone.
  LIE_ROW std::int64_t draw(const Draw& how, float uniform) {
    const std::int64_t most = how.top_k == 0 ? vocabulary_ : how.top_k;
    const double whole = how.top_k == 0 ? 1.0 : take(most, INFINITY).sum;
    Taken kept = take(most, how.top_p * whole);
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
  struct Taken {
    double sum = 0;  // of probabilities
    std::int64_t count = 0;
  };
  /// The likeliest tokens, at least one, until they are `most` or hold `wanted`.
  LIE_ROW Taken take(std::int64_t most, double wanted) {
    Taken taken;
    walk([&](TokenKey key) {
      taken.sum += probability_of(key);
      return ++taken.count < most && taken.sum < wanted;
    });
    return taken;
  }
  /// Calls visit(key) from the likeliest token on while it returns true, by one thread.
  template <typename Visit>
  LIE_ROW void walk(const Visit& visit) {
    for (bool more = end_ == kAll || rewind(); more; more = advance()) {
      block_.once([&] {
        bool goes_on = true;
        for (int i = 0; goes_on && i < window_.count; ++i) goes_on = visit(window_.keys[i]);
        window_.goes_on = goes_on;
      });
      block_.wait();
      const bool goes_on = window_.goes_on;
      block_.wait();
      if (!goes_on) return;
    }
  }

  LIE_ROW bool rewind() {
    begin_ = kAll;
    return advance();
  }
  /// To the window of the next tokens. False if there are none.
  LIE_ROW bool advance() {
    end_ = begin_;
    TokenKey first = 0, last = end_;
    for (int shift = 55;; shift -= 8) {  // from the exponent's bits on
      count_digits(first, last, shift);
      begin_ = first + (static_cast<TokenKey>(window_.bin + 1) << shift);
      if (window_.count > 0 || window_.bin < 0) break;
      if (begin_ < last) last = begin_;  // one value has too many: by the next digit
      first = begin_ - (TokenKey{1} << shift);
    }
    each_key(begin_, end_, [&](TokenKey key) { window_.keys[block_.add(window_.gathered)] = key; });
    sort();
    return window_.count > 0;
  }

  /// f(key) for the tokens whose keys lie in [first, last).
  template <typename F>
  LIE_ROW void each_key(TokenKey first, TokenKey last, const F& f) const {
    block_.each(vocabulary_, [&](std::int64_t i) {
      const float p = probability_(i);
      if (!(p > 0) || !(static_cast<double>(p) >= floor_)) return;
      const TokenKey key = key_of(p, i);
      if (key >= first && key < last) f(key);
    });
  }
  /// Of keys in [first, last), how many the highest values of the digit at `shift` have together,
  /// as many values as fit into a window.
  LIE_ROW void count_digits(TokenKey first, TokenKey last, int shift) {
    block_.each(TokenWindow::kBins, [&](std::int64_t bin) { window_.bins[bin] = 0; });
    block_.wait();
    each_key(first, last, [&](TokenKey key) { block_.add(window_.bins[(key - first) >> shift]); });
    block_.wait();
    block_.once([&] {
      int bin = TokenWindow::kBins - 1, count = 0;
      for (; bin >= 0 && count + window_.bins[bin] <= TokenWindow::kKeys; --bin) {
        count += window_.bins[bin];
      }
      window_.bin = bin;
      window_.count = count;
      window_.gathered = 0;
    });
    block_.wait();
  }
  /// Batcher's bitonic sort, the largest first.
  LIE_ROW void sort() {
    int size = 2;
    while (size < window_.count) size *= 2;
    TokenKey* const keys = window_.keys;
    block_.each(size - window_.count, [&](std::int64_t i) { keys[window_.count + i] = 0; });
    block_.wait();
    for (int run = 2; run <= size; run *= 2) {
      for (int step = run / 2; step > 0; step /= 2) {
        block_.each(size / 2, [&](std::int64_t i) {
          const std::int64_t a = 2 * i - (i & (step - 1)), b = a + step;
          const TokenKey of_a = keys[a], of_b = keys[b];
          if ((of_a < of_b) != ((a & run) == 0)) return;
          keys[a] = of_b;
          keys[b] = of_a;
        });
        block_.wait();
      }
    }
  }

  static constexpr TokenKey kAll = ~TokenKey{0};

  const Block& block_;
  const Probability& probability_;
  const std::int64_t vocabulary_;
  double floor_;
  TokenWindow& window_;
  // The window's keys are those in [begin_, end_).
  TokenKey begin_ = kAll, end_ = kAll;
};

}  // namespace lie::cuda
