// Tests attention in bf16: the exact order of its sums against scalar std::fma on every compiled
// instruction set, gradients against double precision, and the matrix unit, if this processor has
// one, against vector code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/cpu/kernels/bf16_attention_kernels.h"
#include "model/cpu/kernels/bf16_kernels.h"
#include "model/cpu/kernels/bf16_page_tiles.h"
#include "model/operators/operators.h"
#include "tests/instruction_sets.h"
#include "tests/model/bf16_numbers.h"
#include "tests/model/scalar_recipes.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

using cpu::kPage, test::float_values, test::rounded, test::tile_sum;
using Matrix = std::vector<float>;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

Tensor view(Matrix& x, std::int64_t rows, std::int64_t cols) {
  return {x.data(), rows, cols, cols, DType::kFloat32};
}

/// Computes attention of one query over `length` keys and values [length, width] in scalar code.
Matrix attended(const float* q, const Matrix& k, const Matrix& v, std::int64_t length,
                std::int64_t width, float scale) {
  Matrix weights(at(length));
  float largest = -INFINITY;
  for (std::int64_t j = 0; j < length; ++j) {
    float score = 0;
    for (std::int64_t d = 0; d < width; d += 32) {
      score += tile_sum(
          std::min<std::int64_t>(32, width - d), [&](auto i) { return q[d + i]; },
          [&](auto i) { return k[at(j * width + d + i)]; });
    }
    weights[at(j)] = score * scale;
    largest = std::max(largest, weights[at(j)]);
  }
  float block[2][16] = {}, lane[16];  // blocks of 256 positions
  for (std::int64_t j = 0; j < length; ++j) {
    weights[at(j)] = rounded(test::scalar_exp(weights[at(j)] - largest));
    block[j / 256][j % 16] += weights[at(j)];
  }
  for (int i = 0; i < 16; ++i) lane[i] = block[0][i] + block[1][i];
  const float inverse = 1.0f / test::folded(lane);
  Matrix y(at(width));
  for (std::int64_t d = 0; d < width; ++d) {
    for (std::int64_t j = 0; j < length; j += kPage) {
      y[at(d)] += tile_sum(
          std::min(kPage, length - j), [&](auto i) { return weights[at(j + i)]; },
          [&](auto i) { return v[at((j + i) * width + d)]; });
    }
    y[at(d)] *= inverse;
  }
  return y;
}

void check_paged(std::int64_t length, std::int64_t width, std::int64_t group) {
  SCOPED_TRACE(testing::Message() << length << " positions, width " << width << ", group "
                                  << group);
  const Matrix q = float_values("q", at(group * width), 4.0),
               k = float_values("k", at(length * width), 4.0),
               v = float_values("v", at(length * width));
  Matrix expected;
  for (std::int64_t h = 0; h < group; ++h) {
    const Matrix y = attended(&q[at(h * width)], k, v, length, width, 0.25f);
    expected.insert(expected.end(), y.begin(), y.end());
  }
  const std::int64_t pages = (length + kPage - 1) / kPage, of_page = cpu::page_part_elements(width);
  // Slots past the end hold data of another sequence, which may be NaN.
  std::vector<std::uint16_t> pool(at((pages + 1) * of_page), to_bfloat16(NAN));
  std::vector<std::int32_t> table;
  for (std::int64_t p = 0; p < pages; ++p) table.push_back(static_cast<std::int32_t>(pages - p));
  for (std::int64_t j = 0; j < length; ++j) {
    cpu::store_position_in_bf16(&k[at(j * width)], &v[at(j * width)], width, j % kPage,
                                &pool[at(table[at(j / kPage)] * of_page)]);
  }
  test::on_every_target([&] {
    Matrix y(at(group * width));
    Matrix scratch(at(cpu::paged_attention_scratch_in_bf16(length, group, width)));
    cpu::attend_pages_in_bf16(
        {width, group, 0.25f, q.data(), pool.data(), of_page, table.data(), length, y.data()},
        scratch.data());
    EXPECT_EQ(y, expected);
  });
}

TEST(Bf16AttentionExactSums, PagesAreSummedInOrder) {
  for (const std::int64_t length : {1, 2, 15, 16, 17, 33, 64, 90, 300}) check_paged(length, 32, 2);
  for (const std::int64_t width : {16, 48, 64, 80, 128}) check_paged(45, width, 3);
  for (const std::int64_t group : {1, 16, 17, 33}) check_paged(20, 64, group);
}

/// Sequences packed one after another.
struct Packed {
  AttentionShape shape;
  std::vector<std::int32_t> starts;
  std::int64_t rows() const { return starts.back(); }
  PackedSequences sequences() const {
    std::int64_t longest = 0;
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
      longest = std::max<std::int64_t>(longest, starts[s + 1] - starts[s]);
    }
    return {starts, {starts.data(), std::ssize(starts)}, longest};
  }
};

struct Gradients {
  Matrix y, log_sum, d_rotated, d_qkv;
};

/// Inputs of attention. Rotated queries and keys and qkv are exact in bf16, d_y is not. Values are
/// near 1, so that the rounding error of d_y, common to all gradients of a row's weights, must
/// cancel.
struct Inputs {
  Matrix rotated, qkv, d_y;
};
Inputs inputs_of(const AttentionShape& shape, std::int64_t rows) {
  Inputs x{float_values("rotated", at(rows * (shape.q_cols() + shape.kv_cols()))),
           float_values("qkv", at(rows * shape.qkv_cols()), 0.125),
           float_values("dy", at(rows * shape.q_cols()))};
  std::ranges::transform(x.rotated, x.rotated.begin(), rounded);
  std::ranges::transform(x.qkv, x.qkv.begin(), [](float value) { return rounded(1 + value); });
  return x;
}

Gradients computed(const Packed& packed, int threads) {
  const AttentionShape& shape = packed.shape;
  const std::int64_t rows = packed.rows(), q = shape.q_cols(), both = q + shape.kv_cols();
  Inputs in = inputs_of(shape, rows);
  Gradients made{Matrix(at(rows * q)), Matrix(at(rows * shape.heads)), Matrix(at(rows * both)),
                 Matrix(in.qkv.size())};
  const auto operators = make_cpu_operators(threads, {}, DType::kBFloat16);
  const Tensor y = view(made.y, rows, q), log_sum = view(made.log_sum, rows, shape.heads);
  const Tensor all = view(in.rotated, rows, both), values = view(in.qkv, rows, shape.qkv_cols());
  operators->attention(all, values, shape, packed.sequences(), y, log_sum);
  operators->attention_backward(view(in.d_y, rows, q), all, values, y, log_sum, shape,
                                packed.sequences(), view(made.d_rotated, rows, both),
                                view(made.d_qkv, rows, shape.qkv_cols()));
  return made;
}

/// Results of attention in double precision, computed for one query head of a sequence at a time.
struct Exact {
  std::vector<double> y, d_rotated, d_qkv;
};

void add_head(const Packed& packed, std::int64_t first, std::int64_t end, std::int64_t head,
              Exact& to) {
  const AttentionShape& shape = packed.shape;
  const std::int64_t width = shape.head_width, q_cols = shape.q_cols();
  const std::int64_t both = q_cols + shape.kv_cols(), of_qkv = shape.qkv_cols();
  const std::int64_t kv = head / (shape.heads / shape.kv_heads) * width, q_col = head * width;
  const auto [rotated, qkv, d_y] = inputs_of(shape, packed.rows());
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const auto dot = [&](const float* a, const float* b) {
    double sum = 0;
    for (std::int64_t d = 0; d < width; ++d) sum += static_cast<double>(a[d]) * b[d];
    return sum;
  };
  for (std::int64_t i = first; i < end; ++i) {
    const float* q = &rotated[at(i * both + q_col)];
    const float* dy = &d_y[at(i * q_cols + q_col)];
    std::vector<double> weight, d_weight;
    double total = 0, center = 0;
    for (std::int64_t j = first; j <= i; ++j) {
      weight.push_back(std::exp(scale * dot(q, &rotated[at(j * both + q_cols + kv)])));
      d_weight.push_back(dot(dy, &qkv[at(j * of_qkv + both + kv)]));
      total += weight.back();
    }
    for (std::size_t j = 0; j < weight.size(); ++j) {
      weight[j] /= total;
      center += weight[j] * d_weight[j];
    }
    for (std::int64_t j = first; j <= i; ++j) {
      const double p = weight[at(j - first)],
                   d_score = p * (d_weight[at(j - first)] - center) * scale;
      for (std::int64_t d = 0; d < width; ++d) {
        const std::size_t k_at = at(j * both + q_cols + kv + d),
                          v_at = at(j * of_qkv + both + kv + d);
        to.y[at(i * q_cols + q_col + d)] += p * qkv[v_at];
        to.d_qkv[v_at] += p * dy[d];
        to.d_rotated[k_at] += d_score * q[d];
        to.d_rotated[at(i * both + q_col + d)] += d_score * rotated[k_at];
      }
    }
  }
}

Exact exact(const Packed& packed) {
  const AttentionShape& shape = packed.shape;
  const std::int64_t rows = packed.rows();
  Exact made;
  made.y.resize(at(rows * shape.q_cols()));
  made.d_rotated.resize(at(rows * (shape.q_cols() + shape.kv_cols())));
  made.d_qkv.resize(at(rows * shape.qkv_cols()));
  for (std::size_t s = 0; s + 1 < packed.starts.size(); ++s) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      add_head(packed, packed.starts[s], packed.starts[s + 1], head, made);
    }
  }
  return made;
}

/// Returns |a - b| / |b| for vectors a and b.
double relative_error(const Matrix& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

TEST(Bf16Attention, ForwardAndBackwardAreWithinRoundingOfDoublePrecision) {
  for (const std::int64_t width : {16, 32, 48, 64}) {
    const Packed packed{{6, 2, width}, {0, 1, 16, 33, 150, 166}};
    const Gradients made = computed(packed, 1);
    const Exact expected = exact(packed);
    EXPECT_LT(relative_error(made.y, expected.y), 3e-5);
    EXPECT_LT(relative_error(made.d_rotated, expected.d_rotated), 3e-3);
    EXPECT_LT(relative_error(made.d_qkv, expected.d_qkv), 3e-3);
  }
}

TEST(Bf16Attention, ResultsDoNotDependOnThreadsNeighborsOrInstructionSet) {
  const Packed packed{{6, 2, 48}, {0, 40, 57}}, alone{{6, 2, 48}, {0, 40}};
  const Gradients made = computed(packed, 1), first = computed(alone, 1);
  const auto begins_with = [](const Matrix& all, const Matrix& part) {
    return std::equal(part.begin(), part.end(), all.begin());
  };
  test::on_every_target([&] {
    const Gradients again = computed(packed, 3);
    EXPECT_EQ(again.y, made.y);
    EXPECT_EQ(again.log_sum, made.log_sum);
    EXPECT_EQ(again.d_rotated, made.d_rotated);
    EXPECT_EQ(again.d_qkv, made.d_qkv);
  });
  EXPECT_TRUE(begins_with(made.y, first.y));
  EXPECT_TRUE(begins_with(made.log_sum, first.log_sum));
  EXPECT_TRUE(begins_with(made.d_rotated, first.d_rotated));
  EXPECT_TRUE(begins_with(made.d_qkv, first.d_qkv));
}

/// Attention's matmuls on arbitrary operands, with and without the matrix unit.
class AttentionMatmuls {
 public:
  AttentionMatmuls(int round, std::int64_t width, std::int64_t rows)
      : numbers_(round % 2 == 0), width_(width), rows_(rows), count_(1 + round % 6) {
    table_ = {5, 0, 3, 1, 4, 2};
    pool_.resize(at(6 * cpu::page_part_elements(width)));
    left_.resize(at(std::max<std::int64_t>(rows, 16) * std::max(width, count_ * kPage)));
    std::ranges::generate(pool_, numbers_);
    std::ranges::generate(left_, numbers_);
  }
  Matrix keys(bool on_unit) {
    Matrix sums(at(rows_ * count_ * kPage), 1.0f);
    const auto multiply = on_unit ? cpu::multiply_keys : cpu::multiply_keys_in_vectors;
    multiply(pages(), {left_.data(), width_, rows_}, sums.data(), count_ * kPage);
    return sums;
  }
  Matrix values(bool on_unit) {
    Matrix sums(at(rows_ * width_), 1.0f);
    const auto multiply = on_unit ? cpu::multiply_values : cpu::multiply_values_in_vectors;
    multiply(pages(), {left_.data(), count_ * kPage, rows_}, sums.data(), width_);
    return sums;
  }
  Matrix of_16(bool on_unit) {
    Matrix sums(at(width_ * kPage), 1.0f);
    const auto add = on_unit ? cpu::add_matmul_of_16 : cpu::add_matmul_of_16_in_vectors;
    add(width_, left_.data(), pool_.data(), sums.data());
    return sums;
  }

 private:
  cpu::TilePages pages() const {
    return {width_, pool_.data(), cpu::page_part_elements(width_), table_.data(), count_};
  }

  test::Numbers numbers_;
  std::int64_t width_, rows_, count_;
  std::vector<std::int32_t> table_;
  std::vector<std::uint16_t> pool_, left_;
};

TEST(MatrixUnit, AttentionIsBitIdenticalToVectorCode) {
  if (!cpu::has_tile_unit()) GTEST_SKIP() << "this processor has no matrix unit (AMX)";
  for (int round = 0; round < 200; ++round) {
    const std::int64_t width = 16 * (1 + round % 9), rows = round % 3 == 0 ? 16 : 1 + round % 15;
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << rows << " rows of " << width);
    AttentionMatmuls matmuls(round, width, rows);
    const cpu::AttentionUnit unit(rows);
    const Matrix keys = matmuls.keys(true), values = matmuls.values(true);
    const Matrix of_16 = rows == 16 ? matmuls.of_16(true) : Matrix();
    test::on_every_target([&] {
      EXPECT_EQ(test::different(matmuls.keys(false), keys), 0);
      EXPECT_EQ(test::different(matmuls.values(false), values), 0);
      if (rows != 16) return;
      EXPECT_EQ(test::different(matmuls.of_16(false), of_16), 0);
    });
  }
}

}  // namespace
}  // namespace lie
