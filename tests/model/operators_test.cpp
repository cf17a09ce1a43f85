// Tests each CPU operator against double precision, and the exact order of its sums against scalar
// std::fma, on every compiled instruction set.
#include "model/operators/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "common/base/dtype.h"
#include "model/cpu/kernels/attention_kernels.h"
#include "model/cpu/kernels/kernels.h"
#include "tests/instruction_sets.h"
#include "tests/model/scalar_recipes.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using test::float_values, test::folded, test::on_every_target, test::scalar_exp;
using Matrix = std::vector<float>;

Tensor view(Matrix& x, std::int64_t rows, std::int64_t cols) {
  return {x.data(), rows, cols, cols, DType::kFloat32};
}
Tensor view(const Matrix& x, std::int64_t rows, std::int64_t cols) {
  return view(const_cast<Matrix&>(x), rows, cols);
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double worst_difference(const Matrix& a, const std::vector<double>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]) / (1 + std::abs(b[i])));
  }
  return worst;
}

// ---- Exact sums in scalar code

/// Returns the matrix rounded to bf16.
Matrix rounded(Matrix x) {
  for (float& value : x) value = from_bfloat16(to_bfloat16(value));
  return x;
}

/// Computes residual + x w^T in scalar code and by the operators on every instruction set. The
/// weight is fp32, or bf16 in half the memory.
void check_matmul(std::int64_t rows, std::int64_t in, std::int64_t block,
                  std::int64_t out = 77 /* no multiple of a panel */) {
  const Matrix x = float_values("x", at(rows * in)), w = rounded(float_values("w", at(out * in)));
  const Matrix residual = float_values("r", at(rows * out));
  Matrix expected = residual;
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t n = 0; n < out; ++n) {
      float& total = expected[at(t * out + n)];
      for (std::int64_t first = 0; first < in; first += block) {
        float sum = 0.0f;
        for (std::int64_t k = first; k < std::min(first + block, in); ++k)
          sum = std::fma(x[at(t * in + k)], w[at(n * in + k)], sum);
        total += sum;
      }
    }
  }
  on_every_target([&] {
    const auto operators = make_cpu_operators(2);
    std::int64_t bytes[2] = {};
    for (const bool fixed : {false, true}) {
      const auto weight =
          operators->make_weight(out, in, fixed ? WeightUse::kFixed : WeightUse::kTrained);
      operators->pack(*weight, 0, view(w, out, in));
      Matrix y(at(rows * out));
      operators->linear_add(view(x, rows, in), *weight, view(residual, rows, out),
                            view(y, rows, out));
      EXPECT_EQ(y, expected) << rows << " rows, " << in;
      bytes[fixed] = weight->bytes();
    }
    EXPECT_EQ(2 * bytes[true], bytes[false]);
  });
}

TEST(CpuExactSums, MatmulsAddKBlocksInOrder) {
  for (const std::int64_t rows : {1, 2, 3, 5, 14, 31, 71, 300}) {
    check_matmul(rows, 301, 128);
    check_matmul(rows, 1029, 64);
  }
  check_matmul(2, 8200, 128);
  check_matmul(5, 130, 128, 1100);
  check_matmul(300, 100, 128, 1100);
}

TEST(CpuExactSums, WeightGradientsAddTokensInOrder) {
  const std::int64_t tokens = 700, in = 45, out = 37;
  const Matrix dy = float_values("dy", at(tokens * out)), x = float_values("x", at(tokens * in));
  Matrix expected = float_values("dw", at(out * in));
  const Matrix before = expected;
  for (std::int64_t n = 0; n < out; ++n) {
    for (std::int64_t k = 0; k < in; ++k) {
      float& sum = expected[at(n * in + k)];
      for (std::int64_t t = 0; t < tokens; ++t)
        sum = std::fma(dy[at(t * out + n)], x[at(t * in + k)], sum);
    }
  }
  on_every_target([&] {
    const auto operators = make_cpu_operators(3);
    Matrix dw = before;
    operators->linear_backward_weight(view(dy, tokens, out), view(x, tokens, in), {},
                                      view(dw, out, in));
    EXPECT_EQ(dw, expected);
  });
}

TEST(CpuExactSums, RmsNormSumsSixteenLanes) {
  const std::int64_t width = 88;
  const Matrix x = float_values("x", at(width)), weight = float_values("w", at(width));
  float lane[16] = {};
  for (std::int64_t i = 0; i < width; ++i)
    lane[i % 16] = std::fma(x[at(i)], x[at(i)], lane[i % 16]);
  const float inverse = 1.0f / std::sqrt(folded(lane) / static_cast<float>(width) + 1e-6f);
  Matrix expected;
  for (std::int64_t i = 0; i < width; ++i) expected.push_back(x[at(i)] * inverse * weight[at(i)]);
  on_every_target([&] {
    Matrix y(at(width)), inverse_rms(1);
    make_cpu_operators(1)->rms_norm(view(x, 1, width), view(weight, 1, width), 1e-6f,
                                    view(y, 1, width), view(inverse_rms, 1, 1));
    EXPECT_EQ(y, expected);
    EXPECT_EQ(inverse_rms[0], inverse);
  });
}

TEST(CpuExactSums, PagedAttentionSumsPositionsInOrder) {
  const std::int64_t width = 16, group = 3, length = 300, pages = 19;  // two blocks of positions
  const Matrix q = float_values("q", at(group * width), 4.0),
               k = float_values("k", at(length * width), 4.0);
  const Matrix v = float_values("v", at(length * width));
  const float scale = 0.25f;
  Matrix expected(at(group * width));
  for (std::int64_t h = 0; h < group; ++h) {
    std::vector<float> p(at(length));
    float largest = -INFINITY, lanes[2][16] = {}, lane[16];
    for (std::int64_t j = 0; j < length; ++j) {
      for (std::int64_t d = 0; d < width; ++d)
        p[at(j)] = std::fma(q[at(h * width + d)], k[at(j * width + d)], p[at(j)]);
      p[at(j)] *= scale;
      largest = std::max(largest, p[at(j)]);
    }
    for (std::int64_t j = 0; j < length; ++j)
      lanes[j / 256][j % 16] += p[at(j)] = scalar_exp(p[at(j)] - largest);
    for (int i = 0; i < 16; ++i) lane[i] = lanes[0][i] + lanes[1][i];
    const float inverse = 1.0f / folded(lane);
    for (std::int64_t d = 0; d < width; ++d) {
      float sums[2] = {};
      for (std::int64_t j = 0; j < length; ++j)
        sums[j / 256] = std::fma(p[at(j)], v[at(j * width + d)], sums[j / 256]);
      expected[at(h * width + d)] = (sums[0] + sums[1]) * inverse;
    }
  }
  Matrix pool(at(pages * cpu::page_part_elements(width)), NAN);  // nothing past the end may be read
  const std::vector<std::int32_t> table = {4,  0, 5, 2,  1,  3,  18, 6,  17, 7,
                                           16, 8, 9, 15, 10, 14, 11, 13, 12};
  for (std::int64_t j = 0; j < length; ++j) {
    cpu::store_position(&k[at(j * width)], &v[at(j * width)], width, j % cpu::kPage,
                        &pool[at(table[at(j / cpu::kPage)] * cpu::page_part_elements(width))]);
  }
  on_every_target([&] {
    Matrix y(at(group * width)), scratch(at(cpu::paged_attention_scratch(length, group, width)));
    cpu::attend_pages({width, group, scale, q.data(), pool.data(), cpu::page_part_elements(width),
                       table.data(), length, y.data()},
                      scratch.data());
    EXPECT_EQ(y, expected);
  });
}

// ---- Against double precision

TEST(CpuOperators, SoftmaxStatisticsAndTheirGradientMatchDoublePrecision) {
  const std::int64_t rows = 3, vocabulary = 101;
  const float temperature = 0.6f;
  Matrix logits = float_values("logits", at(rows * vocabulary), 30.0);
  const std::vector<std::int32_t> targets = {7, 100, 0};
  const Matrix d_log_probs = {1.5f, -0.25f, 0.0f}, d_entropies = {0.0f, 0.5f, -2.0f};
  std::vector<double> log_probs, entropies, gradient;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::vector<double> z;
    double total = 0, entropy = 0;
    for (std::int64_t i = 0; i < vocabulary; ++i) {
      z.push_back(static_cast<double>(logits[at(r * vocabulary + i)]) /
                  static_cast<double>(temperature));
      total += std::exp(z.back());
    }
    for (double& x : z) {
      x -= std::log(total);
      entropy -= std::exp(x) * x;
    }
    log_probs.push_back(z[at(targets[at(r)])]);
    entropies.push_back(entropy);
    for (std::int64_t i = 0; i < vocabulary; ++i) {
      const double p = std::exp(z[at(i)]), hit = i == targets[at(r)] ? 1.0 : 0.0;
      gradient.push_back(
          (d_log_probs[at(r)] * (hit - p) - d_entropies[at(r)] * p * (z[at(i)] + entropy)) /
          temperature);
    }
  }
  on_every_target([&] {
    const auto operators = make_cpu_operators(1);
    Matrix got = logits, l(3), e(3), s(3);
    const Tensor all = view(got, rows, vocabulary);
    const Indices target{targets.data(), 3};
    operators->log_probs(all, target, temperature, view(l, 1, 3), view(e, 1, 3), view(s, 1, 3));
    EXPECT_LT(worst_difference(l, log_probs), 2e-6);
    EXPECT_LT(worst_difference(e, entropies), 2e-6);
    Matrix p(at(vocabulary));
    cpu::softmax_probabilities(logits.data(), vocabulary, 1 / temperature, s[0], p.data());
    EXPECT_NEAR(p[7], std::exp(log_probs[0]), 1e-6);
    operators->log_probs_backward(all, target, temperature, view(e, 1, 3), view(s, 1, 3),
                                  view(d_log_probs, 1, 3), view(d_entropies, 1, 3));
    EXPECT_LT(worst_difference(got, gradient), 5e-6);
  });
}

/// 150,000 tokens share a few hundredths of the probability. Each has less than fp32 can add to 1.
TEST(CpuOperators, LogSumExpKeepsTheTailOfALargeVocabulary) {
  Matrix logits = float_values("tail", 150'000, 2.0);
  logits[70'000] = 17.0f;
  double sum = 0;
  for (const float z : logits) sum += std::exp(static_cast<double>(z));
  const float log_sum = cpu::softmax_statistics(logits.data(), std::ssize(logits), 1.0f).log_sum;
  EXPECT_NEAR(log_sum, std::log(sum), 1.5e-6);  // fp32 has 1.9e-6 steps there
}

TEST(CpuOperators, SwigluMatchesDoublePrecision) {
  const std::int64_t width = 37;
  const Matrix gate_up = float_values("g", at(2 * width), 20.0), dy = float_values("dy", at(width));
  std::vector<double> y, d(at(2 * width));
  for (std::int64_t i = 0; i < width; ++i) {
    const double g = gate_up[at(i)], u = gate_up[at(width + i)], s = 1 / (1 + std::exp(-g));
    y.push_back(g * s * u);
    d[at(i)] = dy[at(i)] * u * s * (1 + g * (1 - s));
    d[at(width + i)] = dy[at(i)] * g * s;
  }
  on_every_target([&] {
    const auto operators = make_cpu_operators(1);
    Matrix out(at(width)), again(at(width)), d_gate_up(at(2 * width));
    operators->swiglu(view(gate_up, 1, 2 * width), view(out, 1, width));
    operators->swiglu_backward(view(dy, 1, width), view(gate_up, 1, 2 * width),
                               view(d_gate_up, 1, 2 * width), view(again, 1, width));
    EXPECT_LT(worst_difference(out, y), 2e-6);
    EXPECT_EQ(again, out);
    EXPECT_LT(worst_difference(d_gate_up, d), 2e-6);
  });
}

TEST(CpuOperators, InputGradientIsTheTransposedMatmul) {
  const std::int64_t rows = 9, in = 50, out = 70;
  const Matrix w = float_values("w", at(out * in)), dy = float_values("dy", at(rows * out));
  std::vector<double> expected(at(rows * in));
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t n = 0; n < out; ++n) {
      for (std::int64_t k = 0; k < in; ++k) {
        expected[at(t * in + k)] +=
            static_cast<double>(dy[at(t * out + n)]) * static_cast<double>(w[at(n * in + k)]);
      }
    }
  }
  const auto operators = make_cpu_operators(2);
  const auto weight = operators->make_weight(out, in);
  operators->pack(*weight, 0, view(w, out, in).rows_at(0, 30));
  operators->pack(*weight, 30, view(w, out, in).rows_at(30, out - 30));
  Matrix dx(at(rows * in));
  operators->linear_backward_input(view(dy, rows, out), *weight, view(dx, rows, in));
  EXPECT_LT(worst_difference(dx, expected), 2e-6);
}

TEST(CpuOperators, AFixedWeightInexactInBf16IsStoredInFp32) {
  constexpr std::int64_t kOut = 50, kIn = 130;
  Matrix w = rounded(float_values("w", kOut * kIn));
  for (const std::int64_t place : {std::int64_t{0}, 20 * kIn, kOut * kIn - 1}) {
    Matrix not_exact = w;
    not_exact[at(place)] = 1.0f + 0x1p-10f;
    const auto operators = make_cpu_operators(2);
    const auto trained = operators->make_weight(kOut, kIn);
    const auto fixed = operators->make_weight(kOut, kIn, WeightUse::kFixed);
    for (PackedWeight* weight : {trained.get(), fixed.get()}) {
      operators->pack(*weight, 0, view(not_exact, kOut, kIn).rows_at(0, 21));
      operators->pack(*weight, 21, view(not_exact, kOut, kIn).rows_at(21, kOut - 21));
    }
    EXPECT_EQ(fixed->bytes(), trained->bytes());
    const Matrix x = float_values("x", 4 * kIn);
    Matrix expected(4 * kOut), y(4 * kOut), dx(4 * kIn);
    operators->linear(view(x, 4, kIn), *trained, view(expected, 4, kOut));
    operators->linear(view(x, 4, kIn), *fixed, view(y, 4, kOut));
    EXPECT_EQ(y, expected) << place;
    EXPECT_THROW(operators->linear_backward_input(view(y, 4, kOut), *fixed, view(dx, 4, kIn)),
                 std::runtime_error);
  }
}

TEST(CpuOperators, EmbeddingGathersRowsAndItsGradientScatters) {
  const Matrix table = float_values("table", 5 * 20);
  const std::vector<std::int32_t> tokens = {3, 0, 3};
  const auto operators = make_cpu_operators(2);
  Matrix y(3 * 20), dtable(5 * 20);
  const Indices ids{tokens.data(), 3};
  operators->embed(view(table, 5, 20), ids, view(y, 3, 20));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(y[20 + i], table[i]);
  operators->embed_backward(view(y, 3, 20), ids, view(dtable, 5, 20));
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(dtable[60 + i], 2 * table[60 + i]);
}

TEST(CpuOperators, EmbeddingsFromTableAndPackedWeightAreIdentical) {
  const Matrix table = rounded(float_values("table", 37 * 200));
  const std::vector<std::int32_t> tokens = {36, 0, 17, 15, 16};
  const auto operators = make_cpu_operators(2);
  for (const WeightUse use : {WeightUse::kTrained, WeightUse::kFixed}) {
    const auto packed = operators->make_weight(37, 200, use);
    operators->pack(*packed, 0, view(table, 37, 200));
    Matrix expected(5 * 200), y(5 * 200);
    operators->embed(view(table, 37, 200), {tokens.data(), 5}, view(expected, 5, 200));
    operators->embed(*packed, {tokens.data(), 5}, view(y, 5, 200));
    EXPECT_EQ(y, expected);
  }
}

TEST(CpuOperators, ScatterFillsOtherRowsWithZero) {
  const Matrix y = float_values("y", 2 * 4);
  const std::vector<std::int32_t> rows = {2, 0};
  Matrix x(3 * 4, NAN);
  make_cpu_operators(1)->scatter_rows(view(y, 2, 4), {rows.data(), 2}, view(x, 3, 4));
  EXPECT_EQ(x, (Matrix{y[4], y[5], y[6], y[7], 0, 0, 0, 0, y[0], y[1], y[2], y[3]}));
}

TEST(CpuOperators, SumsOfSquaresAndAdamWAreIdenticalForAnyNumberOfThreads) {
  const auto step = [](int threads) {
    const auto operators = make_cpu_operators(threads);
    const Matrix gradient = float_values("g", 70'003);
    Matrix weights = float_values("w", 70'003), first = float_values("m", 70'003);
    Matrix second(70'003, 0.25f);
    const auto row = [](const Matrix& x) { return view(x, 1, std::ssize(x)); };
    operators->adamw({0.5f, 0.9f, 0.9f, 0.1f, 0.99f, 0.01f, 0.01f, 0.7f, 1e-8f},
                     {row(gradient), row(weights), row(first), row(second)});
    std::vector<double> squares(5);
    operators->sums_of_squares(row(weights), 16'384, squares);
    second.insert(second.end(), squares.begin(), squares.end());
    for (const Matrix& m : {weights, first}) second.insert(second.end(), m.begin(), m.end());
    return second;
  };
  EXPECT_EQ(step(1), step(4));
}

TEST(CpuOperators, SumsOfSquaresCoverEveryElementOfABlock) {
  const auto operators = make_cpu_operators(2);
  for (const std::int64_t n : {1, 15, 16, 17, 100}) {
    const Matrix twos(at(n), 2.0f);
    std::vector<double> sums(at((n + 9) / 10));
    operators->sums_of_squares(view(twos, 1, n), 10, sums);
    for (std::int64_t i = 0; i < std::ssize(sums); ++i) {
      EXPECT_EQ(sums[at(i)], 4.0 * static_cast<double>(std::min<std::int64_t>(10, n - 10 * i)));
    }
  }
}

TEST(CpuOperators, AddAddsEveryElement) {
  for (const int threads : {1, 3}) {
    const Matrix from = float_values("from", 70'003), before = float_values("to", 70'003);
    Matrix to = before;
    make_cpu_operators(threads)->add(view(from, 1, 70'003), view(to, 1, 70'003));
    for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], before[i] + from[i]) << i;
  }
}

TEST(CpuOperators, ZeroThreadsAreAnError) {
  EXPECT_THROW(make_cpu_operators(0), std::runtime_error);
}

}  // namespace
}  // namespace lie
