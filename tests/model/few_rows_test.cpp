// Tests the matmul of few rows on emulated warps: against sums in double, and for bits that do not
// depend on other rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/dtype.h"
#include "model/cuda/kernels/kernels.h"

namespace lie {
namespace {

constexpr cuda::Queue kDevice;

/// A bf16 matrix whose rows are `stride` apart.
struct Matrix {
  std::int64_t rows, cols, stride;
  std::vector<std::uint16_t> bits;

  Matrix(std::int64_t r, std::int64_t c, double seed, std::int64_t gap = 0)
      : rows(r), cols(c), stride(c + gap), bits(static_cast<std::size_t>(r * stride)) {
    for (std::size_t i = 0; i < bits.size(); ++i) {
      bits[i] = to_bfloat16(static_cast<float>(std::sin(seed * static_cast<double>(i + 1))));
    }
  }
  double at(std::int64_t row, std::int64_t col) const {
    return from_bfloat16(bits[static_cast<std::size_t>(row * stride + col)]);
  }
  Tensor view() { return {bits.data(), rows, cols, stride, DType::kBFloat16}; }
};

class FewRows : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!cuda::kernels_are_emulated()) GTEST_SKIP() << "the kernels of this build need a GPU";
  }
  /// Returns y in fp32, after it held the residual, if there is one.
  static std::vector<float> product(Tensor x, Tensor weight, Tensor residual = {}) {
    std::vector<float> y(static_cast<std::size_t>(x.rows * weight.rows), 99.0f);
    cuda::matmul_few_rows(kDevice, x, weight, residual,
                          {y.data(), x.rows, weight.rows, weight.rows, DType::kFloat32});
    return y;
  }
};
INSTANTIATE_TEST_SUITE_P(Widths, FewRows, testing::Values(32, 96, 1184, 2048));

TEST_P(FewRows, DiffersFromDoubleByRoundingOnly) {
  const std::int64_t in = GetParam();
  Matrix weight(48, in, 0.7, 16);
  for (const std::int64_t rows : {1, 7, 8, 9, 16, 31, 33, 64}) {
    Matrix x(rows, in, 0.3, 8), residual(rows, weight.rows, 0.9);
    const std::vector<float> y = product(x.view(), weight.view(), residual.view());
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t o = 0; o < weight.rows; ++o) {
        double sum = residual.at(r, o), terms = std::abs(sum);
        for (std::int64_t i = 0; i < in; ++i) {
          sum += x.at(r, i) * weight.at(o, i);
          terms += std::abs(x.at(r, i) * weight.at(o, i));
        }
        const double bound = static_cast<double>(in) * 0x1p-24 * terms;
        ASSERT_NEAR(y[static_cast<std::size_t>(r * weight.rows + o)], sum, bound) << r << " " << o;
      }
    }
  }
}

TEST_P(FewRows, BitsOfARowDependOnNoOtherRow) {
  const std::int64_t in = GetParam();
  Matrix weight(32, in, 0.7), x(61, in, 0.3);
  const std::vector<float> all = product(x.view(), weight.view());
  for (const std::int64_t count : {1, 5, 12, 30}) {
    const std::vector<float> some = product(x.view().rows_at(20, count), weight.view());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + 20 * 32)) << count;
  }
}

TEST_P(FewRows, InBf16IsTheRoundedSumAndMayReplaceItsResidual) {
  const std::int64_t in = GetParam();
  Matrix weight(16, in, 0.7), x(9, in, 0.3), y(9, 16, 0.9);
  const std::vector<float> wide = product(x.view(), weight.view(), y.view());
  cuda::matmul_few_rows(kDevice, x.view(), weight.view(), y.view(), y.view());
  for (std::size_t i = 0; i < wide.size(); ++i) EXPECT_EQ(y.bits[i], to_bfloat16(wide[i])) << i;
}

TEST_P(FewRows, SupportsOnlyAlignedTilesOfUpTo64Rows) {
  const std::int64_t in = GetParam();
  const auto supports = [&](std::int64_t rows, std::int64_t cols, std::int64_t out,
                            std::int64_t gap) {
    Matrix x(rows, cols, 0.3, gap), weight(out, cols, 0.7), y(rows, out, 0.9);
    return cuda::few_rows_support(x.view(), weight.view(), y.view());
  };
  EXPECT_TRUE(supports(64, in, 16, 0));
  EXPECT_FALSE(supports(65, in, 16, 0));
  EXPECT_FALSE(supports(4, in + 8, 16, 0));
  EXPECT_FALSE(supports(4, in, 24, 0));
  EXPECT_FALSE(supports(4, in, 16, 1));
}

}  // namespace
}  // namespace lie
