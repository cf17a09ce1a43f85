// Tests matmuls in bf16: the exact order of their sums against scalar std::fma on every compiled
// instruction set, and the matrix unit, if this processor has one, against vector code.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/dtype.h"
#include "model/cpu/kernels/bf16_tiles.h"
#include "tests/instruction_sets.h"
#include "tests/model/bf16_numbers.h"
#include "tests/model/scalar_recipes.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using cpu::kTile, cpu::kTileDepth, cpu::kTileRows, cpu::TileRun;
using test::float_values, test::rounded, test::tile_sum;
using Matrix = std::vector<float>;

Tensor view(const Matrix& x, std::int64_t rows, std::int64_t cols) {
  return {const_cast<float*>(x.data()), rows, cols, cols, DType::kFloat32};
}

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::unique_ptr<Operators> bf16_operators(int threads) {
  return make_cpu_operators(threads, {}, DType::kBFloat16);
}

/// Computes residual + x w^T in scalar code.
Matrix expected_matmul(const Matrix& x, const Matrix& w, const Matrix& residual, std::int64_t rows,
                       std::int64_t in, std::int64_t out) {
  Matrix y = residual;
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t n = 0; n < out; ++n) {
      for (std::int64_t block = 0; block < in; block += 4096) {
        float sum = 0;
        const std::int64_t end = std::min(block + 4096, in);
        for (std::int64_t k = block; k < end; k += 32) {
          sum += tile_sum(
              std::min<std::int64_t>(32, end - k), [&](auto i) { return x[at(t * in + k + i)]; },
              [&](auto i) { return w[at(n * in + k + i)]; });
        }
        y[at(t * out + n)] += sum;
      }
    }
  }
  return y;
}

void check_matmul(std::int64_t rows, std::int64_t in, std::int64_t out) {
  SCOPED_TRACE(testing::Message() << rows << " rows, " << in << " to " << out);
  const Matrix x = float_values("x", at(rows * in)), w = float_values("w", at(out * in));
  const Matrix residual = float_values("r", at(rows * out));
  const Matrix expected = expected_matmul(x, w, residual, rows, in, out);
  const Matrix without = expected_matmul(x, w, Matrix(at(rows * out)), rows, in, out);
  test::on_every_target([&] {
    const auto operators = bf16_operators(2);
    const auto weight = operators->make_weight(out, in);
    const std::int64_t cut = out / 3;  // packed in two parts
    operators->pack(*weight, cut, view(w, out, in).rows_at(cut, out - cut));
    operators->pack(*weight, 0, view(w, cut, in));
    Matrix y = residual, z(at(rows * out));
    operators->linear_add(view(x, rows, in), *weight, view(y, rows, out), view(y, rows, out));
    EXPECT_EQ(y, expected);
    operators->linear(view(x, rows, in), *weight, view(z, rows, out));
    EXPECT_EQ(z, without);
  });
}

TEST(Bf16ExactSums, MatmulsAddTilesInOrder) {
  for (const std::int64_t rows : {1, 2, 16, 17, 32, 33, 70}) check_matmul(rows, 301, 77);
  for (const std::int64_t in : {1, 2, 31, 32, 33, 64, 128}) check_matmul(19, in, 32);
  for (const std::int64_t out : {1, 15, 16, 17, 33, 48}) check_matmul(35, 40, out);
  check_matmul(3, 8300, 20);
  check_matmul(2100, 40, 33);
}

TEST(Bf16ExactSums, InputGradientsAreMatmulsWithTheTranspose) {
  const std::int64_t rows = 37, in = 45, out = 77;
  const Matrix dy = float_values("dy", at(rows * out)), w = float_values("w", at(out * in));
  Matrix transposed(at(in * out));
  for (std::int64_t n = 0; n < out; ++n) {
    for (std::int64_t k = 0; k < in; ++k) transposed[at(k * out + n)] = w[at(n * in + k)];
  }
  const Matrix expected = expected_matmul(dy, transposed, Matrix(at(rows * in)), rows, out, in);
  test::on_every_target([&] {
    const auto operators = bf16_operators(3);
    const auto weight = operators->make_weight(out, in);
    Matrix dx(at(rows * in));
    for (const float factor : {2.0f, 1.0f}) {  // packing invalidates the transpose
      Matrix scaled = w;
      for (float& value : scaled) value *= factor;
      operators->pack(*weight, 0, view(scaled, out, in));
      operators->linear_backward_input(view(dy, rows, out), *weight, view(dx, rows, in));
    }
    EXPECT_EQ(dx, expected);
  });
}

TEST(Bf16ExactSums, WeightGradientsAddTilesOfTokensInOrder) {
  constexpr std::int64_t kShapes[][2] = {{37, 45}, {45, 37}, {80, 560}};
  for (const auto& [out, in] : kShapes) {
    const std::int64_t tokens = 1100;
    const Matrix dy = float_values("dy", at(tokens * out)), x = float_values("x", at(tokens * in));
    const Matrix before = float_values("dw", at(out * in));
    Matrix expected = before;
    for (std::int64_t n = 0; n < out; ++n) {
      for (std::int64_t k = 0; k < in; ++k) {
        for (std::int64_t t = 0; t < tokens; t += 32) {
          expected[at(n * in + k)] += tile_sum(
              std::min<std::int64_t>(32, tokens - t),
              [&](auto i) { return dy[at((t + i) * out + n)]; },
              [&](auto i) { return x[at((t + i) * in + k)]; });
        }
      }
    }
    test::on_every_target([&] {
      Matrix dw = before;
      bf16_operators(3)->linear_backward_weight(view(dy, tokens, out), view(x, tokens, in), {},
                                                view(dw, out, in));
      EXPECT_EQ(dw, expected);
    });
  }
}

TEST(Bf16Operators, EmbeddingsFromTableAndPackedHeadAreIdentical) {
  const std::int64_t vocabulary = 45, width = 37;
  const Matrix table = float_values("table", at(vocabulary * width));
  const std::vector<std::int32_t> tokens = {44, 0, 17, 16, 15, 44};
  const auto count = std::ssize(tokens);
  const auto operators = bf16_operators(2);
  const auto head = operators->make_weight(vocabulary, width);
  operators->pack(*head, 0, view(table, vocabulary, width));
  Matrix from_table(at(count * width)), from_head(at(count * width)), expected;
  operators->embed(view(table, vocabulary, width), {tokens.data(), count},
                   view(from_table, count, width));
  operators->embed(*head, {tokens.data(), count}, view(from_head, count, width));
  for (const std::int32_t token : tokens) {
    for (std::int64_t i = 0; i < width; ++i)
      expected.push_back(rounded(table[at(token * width + i)]));
  }
  EXPECT_EQ(from_table, expected);
  EXPECT_EQ(from_head, expected);
}

TEST(Bf16Operators, WeightsTakeHalfTheMemory) {
  const auto narrow = bf16_operators(1), wide = make_cpu_operators(1);
  EXPECT_EQ(2 * narrow->make_weight(64, 96)->bytes(), wide->make_weight(64, 96)->bytes());
}

TEST(Bf16Operators, AFixedWeightHasNoGradient) {
  const auto operators = bf16_operators(1);
  const auto weight = operators->make_weight(16, 32, WeightUse::kFixed);
  Matrix dx(32);
  EXPECT_THROW(operators->linear_backward_input(view(Matrix(16), 1, 16), *weight, view(dx, 1, 32)),
               std::runtime_error);
}

TEST(MatrixUnit, TilesAreBitIdenticalToVectorCode) {
  if (!cpu::has_tile_unit()) GTEST_SKIP() << "this processor has no matrix unit (AMX)";
  const cpu::TileUnit unit;
  for (int round = 0; round < 400; ++round) {
    test::Numbers numbers(round % 2 == 0);
    const std::int64_t blocks = 1 + round % 5;
    std::vector<std::uint16_t> left(at(2 * blocks * kTile)), right(at(2 * blocks * kTile));
    Matrix sums(at(4 * kTileRows * kTileRows));
    std::ranges::generate(left, numbers);
    std::ranges::generate(right, numbers);
    for (float& sum : sums) sum = from_bfloat16(numbers());
    const Matrix before = sums;
    TileRun run = {.left = left.data(),
                   .next_left = blocks * kTile,
                   .right = right.data(),
                   .next_right = blocks * kTile,
                   .blocks = blocks,
                   .row_blocks = 1 + round % 2,
                   .panels = 1 + round / 2 % 2,
                   .from_zero = round % 3 == 0,
                   .sums = sums.data()};
    cpu::run_tiles(run);
    test::on_every_target([&] {
      Matrix in_vectors = before;
      run.sums = in_vectors.data();
      cpu::run_tiles_in_vectors(run);
      EXPECT_EQ(test::different(sums, in_vectors), 0) << "round " << round;
    });
  }
}

}  // namespace
}  // namespace lie
