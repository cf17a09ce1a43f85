// Compares the row functions of the CUDA kernels on emulated lanes with the CPU operators bit for
// bit. The rows are random, of odd widths, with subnormals, zeros of both signs and infinities. The
// environment variable LIE_ROWS sets the number of rows per function (a million take two minutes);
// the default is 32,768. In bf16 the result must equal that of the CPU operators, rounded once. A
// build with CUDA has no emulated lanes. There aten_operators_test.cpp compares the kernels
// themselves with the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "common/base/dtype.h"
#include "model/cuda/kernels/kernels.h"
#include "model/cuda/kernels/philox.h"
#include "model/operators/nf4.h"

namespace lie {
namespace {

constexpr cuda::Queue kDevice{};  // emulated
constexpr std::int64_t kWidths[] = {1,  2,  7,  15, 16,  17,  31,  33,
                                    48, 63, 64, 65, 100, 129, 160, 257};
constexpr std::int64_t kRows = 250;  // rows of a call: fewer than one block of a sum over rows

/// Generates rows of random numbers. The kinds of rows alternate.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::uint64_t bits() {  // splitmix64
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  float uniform(float scale) {
    return (static_cast<float>(bits() >> 40) * 0x1p-24f - 0.5f) * scale;
  }
  float of_row(std::int64_t row) {
    switch (row % 8) {
      case 0: return subnormal();
      case 1: return any_finite();
      case 2: return bits() % 16 == 0 ? (bits() % 2 == 0 ? INFINITY : -INFINITY) : uniform(4);
      case 3: return bits() % 2 == 0 ? (bits() % 2 == 0 ? 0.0f : -0.0f) : uniform(4);
      default: return uniform(row % 2 == 0 ? 4.0f : 60.0f);
    }
  }

 private:
  float subnormal() {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits()) & 0x807f'ffffu);
  }
  float any_finite() {
    const auto word = static_cast<std::uint32_t>(bits());
    return std::isfinite(std::bit_cast<float>(word)) ? std::bit_cast<float>(word) : 1.0f;
  }
  std::uint64_t state_;
};

/// A tensor in two copies: in fp32 for the CPU operators, and in `dtype` for the kernels.
class PairedTensor {
 public:
  /// With `scale` > 0, numbers are uniform in [-scale/2, scale/2). With 0, they are of all kinds.
  PairedTensor(DType dtype, std::int64_t rows, std::int64_t cols, Numbers& numbers, float scale = 0)
      : dtype_(dtype), rows_(rows), cols_(cols), cpu_(count()), floats_(count()), halves_(count()) {
    const auto kind = static_cast<std::int64_t>(numbers.bits() % 8);  // kind of the first row
    for (std::size_t i = 0; i < count(); ++i) {
      float x = scale > 0 ? numbers.uniform(scale)
                          : numbers.of_row(static_cast<std::int64_t>(i) / cols + kind);
      if (narrow()) x = from_bfloat16(to_bfloat16(x));
      cpu_[i] = floats_[i] = x;
      halves_[i] = to_bfloat16(x);
    }
  }

  Tensor cpu() { return {cpu_.data(), rows_, cols_, cols_, DType::kFloat32}; }
  Tensor kernel() {
    void* const data = narrow() ? static_cast<void*>(halves_.data()) : floats_.data();
    return {data, rows_, cols_, cols_, dtype_};
  }
  /// Returns the number of elements in which the two copies differ. All NaNs are equal.
  std::int64_t different() const {
    std::int64_t found = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      const float rounded = narrow() ? from_bfloat16(to_bfloat16(cpu_[i])) : cpu_[i];
      found += same(rounded, of_kernel(i)) ? 0 : 1;
    }
    return found;
  }
  /// Returns the largest difference of the two copies, or NaN if an element is not finite.
  double largest_difference() const {
    double largest = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      const double difference = std::abs(double{cpu_[i]} - double{of_kernel(i)});
      if (!(difference <= largest)) largest = difference;
      if (std::isnan(difference)) break;
    }
    return largest;
  }
  /// Returns the number of differences between the kernels' results here and in another tensor, in
  /// the first columns.
  std::int64_t different_from(const PairedTensor& other, std::int64_t cols) const {
    std::int64_t found = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      const bool counts = static_cast<std::int64_t>(i) % cols_ < cols;
      found += counts && !same(other.of_kernel(i), of_kernel(i)) ? 1 : 0;
    }
    return found;
  }

 private:
  static bool same(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  }
  float of_kernel(std::size_t i) const { return narrow() ? from_bfloat16(halves_[i]) : floats_[i]; }
  bool narrow() const { return dtype_ == DType::kBFloat16; }
  std::size_t count() const { return static_cast<std::size_t>(rows_ * cols_); }

  DType dtype_;
  std::int64_t rows_, cols_;
  std::vector<float> cpu_, floats_;
  std::vector<std::uint16_t> halves_;
};

std::vector<std::int32_t> indices(Numbers& numbers, std::int64_t count, std::int64_t below) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i < count; ++i) {
    all.push_back(static_cast<std::int32_t>(numbers.bits() % static_cast<std::uint64_t>(below)));
  }
  return all;
}
Indices view(const std::vector<std::int32_t>& all) { return {all.data(), std::ssize(all)}; }

/// The tests run in fp32 and in bf16.
class CudaRows : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!cuda::kernels_are_emulated()) GTEST_SKIP() << "the kernels of this build need a GPU";
  }
  PairedTensor activations(std::int64_t rows, std::int64_t cols) {
    return PairedTensor(GetParam(), rows, cols, numbers_);
  }
  PairedTensor floats(std::int64_t rows, std::int64_t cols) {
    return PairedTensor(DType::kFloat32, rows, cols, numbers_);
  }
  /// Calls compare(width) until the requested number of rows was compared.
  template <typename F>
  void over_rows(std::int64_t rows_of_call, const F& compare) {
    const char* const wanted = std::getenv("LIE_ROWS");
    const std::int64_t all = wanted == nullptr ? 32768 : std::atoll(wanted);
    std::int64_t done = 0;
    for (std::size_t call = 0; done < all; ++call, done += rows_of_call) {
      compare(kWidths[call % std::size(kWidths)]);
      if (HasFailure()) return;
    }
    RecordProperty("rows", std::to_string(done));
  }

  std::unique_ptr<Operators> cpu_ = make_cpu_operators(1);
  Numbers numbers_{7};
  std::vector<float> partial_ = std::vector<float>(1 << 16);
};

INSTANTIATE_TEST_SUITE_P(DTypes, CudaRows, testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& test) {
                           return test.param == DType::kFloat32 ? "fp32" : "bf16";
                         });

TEST_P(CudaRows, RmsNormIsBitIdenticalToTheCpu) {
  over_rows(kRows, [&](std::int64_t width) {
    PairedTensor x = activations(kRows, width), weight = floats(1, width),
                 y = activations(kRows, width);
    PairedTensor inverse_rms = floats(1, kRows);
    cpu_->rms_norm(x.cpu(), weight.cpu(), 1e-6f, y.cpu(), inverse_rms.cpu());
    cuda::rms_norm(kDevice, x.kernel(), weight.kernel(), 1e-6f, y.kernel(), inverse_rms.kernel());
    EXPECT_EQ(y.different() + inverse_rms.different(), 0) << width;
  });
}

TEST_P(CudaRows, RmsNormBackwardIsBitIdenticalToTheCpu) {
  over_rows(kRows, [&](std::int64_t width) {
    PairedTensor dy = activations(kRows, width), x = activations(kRows, width),
                 weight = floats(1, width);
    PairedTensor inverse_rms = floats(1, kRows), dx = activations(kRows, width),
                 dw = floats(1, width);
    cpu_->rms_norm_backward(dy.cpu(), x.cpu(), weight.cpu(), inverse_rms.cpu(), dx.cpu(), dw.cpu());
    cuda::rms_norm_backward(kDevice, dy.kernel(), x.kernel(), weight.kernel(), inverse_rms.kernel(),
                            dx.kernel(), dw.kernel(), partial_.data());
    EXPECT_EQ(dx.different() + dw.different(), 0) << width;
  });
}

TEST_P(CudaRows, SwigluAndItsGradientAreBitIdenticalToTheCpu) {
  over_rows(kRows, [&](std::int64_t width) {
    PairedTensor gate_up = activations(kRows, 2 * width), y = activations(kRows, width);
    cpu_->swiglu(gate_up.cpu(), y.cpu());
    cuda::swiglu(kDevice, gate_up.kernel(), y.kernel());
    EXPECT_EQ(y.different(), 0) << width;
    PairedTensor dy = activations(kRows, width), d = activations(kRows, 2 * width);
    PairedTensor again = activations(kRows, width);
    cpu_->swiglu_backward(dy.cpu(), gate_up.cpu(), d.cpu(), again.cpu());
    cuda::swiglu_backward(kDevice, dy.kernel(), gate_up.kernel(), d.kernel(), again.kernel());
    EXPECT_EQ(d.different() + again.different(), 0) << width;
  });
}

TEST_P(CudaRows, HeadRotationAndItsGradientAreBitIdenticalToTheCpu) {
  constexpr std::int64_t kTokens = 25;  // with 7 heads each
  over_rows(kTokens * 7, [&](std::int64_t some) {
    const std::int64_t width = some + some % 2;
    const AttentionShape shape{5, 2, width};
    const std::int64_t rotated_cols = shape.q_cols() + shape.kv_cols();
    const std::vector<std::int32_t> positions = indices(numbers_, kTokens, 30);
    PairedTensor rope = floats(30, width), q_norm = floats(1, width), k_norm = floats(1, width);
    PairedTensor qkv = activations(kTokens, shape.qkv_cols());
    for (const bool norm : {true, false}) {
      const auto how = [&](bool cpu) {
        const auto side = [&](PairedTensor& x) { return cpu ? x.cpu() : x.kernel(); };
        return QkNormRope{shape,
                          norm ? side(q_norm) : Tensor(),
                          norm ? side(k_norm) : Tensor(),
                          1e-6f,
                          side(rope),
                          view(positions)};
      };
      PairedTensor rotated = activations(kTokens, rotated_cols);
      cpu_->qk_norm_rope(qkv.cpu(), how(true), rotated.cpu());
      cuda::qk_norm_rope(kDevice, qkv.kernel(), how(false), rotated.kernel());
      EXPECT_EQ(rotated.different(), 0) << width;
      PairedTensor d_rotated = activations(kTokens, rotated_cols), dq = floats(1, width);
      PairedTensor d_qkv = activations(kTokens, shape.qkv_cols()), dk = floats(1, width);
      cpu_->qk_norm_rope_backward(d_rotated.cpu(), qkv.cpu(), how(true), d_qkv.cpu(),
                                  norm ? dq.cpu() : Tensor(), norm ? dk.cpu() : Tensor());
      cuda::qk_norm_rope_backward(kDevice, d_rotated.kernel(), qkv.kernel(), how(false),
                                  d_qkv.kernel(), norm ? dq.kernel() : Tensor(),
                                  norm ? dk.kernel() : Tensor(), partial_.data());
      EXPECT_EQ(d_qkv.different(), 0) << width;
      // In bf16 each term of the norms' gradients is rounded before it is added.
      if (GetParam() != DType::kFloat32) continue;
      EXPECT_EQ(dq.different() + dk.different(), 0) << width;
    }
  });
}

/// A few sequences of a cache, and rows that end at any position in them. Rows share pages, and
/// some end within a page.
struct Cached {
  static constexpr std::int64_t kSequences = 3, kRows = 9;

  Cached(Numbers& numbers, std::int64_t longest)
      : table_width((longest + 15) / 16), table(), positions() {
    // Page numbers descend, and page 0 is unused.
    for (std::int64_t i = 0; i < kSequences * table_width; ++i) {
      table.push_back(static_cast<std::int32_t>(kSequences * table_width - i));
    }
    for (std::int64_t row = 0; row < kRows; ++row) {
      sequences.push_back(static_cast<std::int32_t>(row * kSequences / kRows));
      positions.push_back(static_cast<std::int32_t>(
          row == 0 ? longest - 1 : numbers.bits() % static_cast<std::uint64_t>(longest)));
    }
  }
  std::int64_t pages() const { return kSequences * table_width + 1; }
  std::int64_t positions_held() const { return kSequences * table_width * 16; }
  /// Returns a batch that fills every slot of every page.
  DecodeBatch filling() {
    for (const std::int32_t page : table) {
      for (std::int32_t place = 0; place < 16; ++place) slots.push_back(16 * page + place);
    }
    DecodeBatch batch;
    batch.slots = view(slots);
    return batch;
  }
  DecodeBatch reading() const {
    return {view(positions), {},          view(sequences),
            view(table),     table_width, 1 + std::int64_t{*std::ranges::max_element(positions)}};
  }

  std::int64_t table_width;
  std::vector<std::int32_t> table, positions, sequences = {}, slots = {};
};

/// Attention of some rows over pages, whose content the CPU operators and the kernels stored.
struct AttendedRows {
  AttendedRows(DType dtype, const AttentionShape& heads, Numbers& numbers, std::int64_t longest,
               Operators& cpu)
      : shape(heads),
        cached(numbers, longest),
        reading(cached.reading()),
        keys(tame(dtype, cached.positions_held(), shape.q_cols() + shape.kv_cols(), numbers)),
        qkv(tame(dtype, cached.positions_held(), shape.qkv_cols(), numbers)),
        pool(tame(dtype, cached.pages(), 2 * 2 * 16 * shape.kv_cols(), numbers)),
        rotated(tame(dtype, Cached::kRows, shape.q_cols() + shape.kv_cols(), numbers)),
        y(tame(dtype, Cached::kRows, shape.q_cols(), numbers)) {
    const DecodeBatch filling = cached.filling();
    cpu.store_kv(keys.cpu(), qkv.cpu(), shape, filling, {pool.cpu(), 1});
    cuda::store_kv(kDevice, keys.kernel(), qkv.kernel(), shape, filling, {pool.kernel(), 1});
  }
  static PairedTensor tame(DType dtype, std::int64_t rows, std::int64_t cols, Numbers& numbers) {
    return {dtype, rows, cols, numbers, 4.0f};
  }
  /// Computes the rows [first, first + count) by the kernels.
  void attend(std::int64_t first, std::int64_t count) {
    DecodeBatch part = reading;
    part.positions = reading.positions.from(first, count);
    part.sequences = reading.sequences.from(first, count);
    if (count == 1) part.longest = cached.positions[static_cast<std::size_t>(first)] + 1;
    std::vector<float> scratch(
        static_cast<std::size_t>(count * cuda::attention_decode_scratch(shape, part.longest)));
    cuda::attention_decode(kDevice, rotated.kernel().rows_at(first, count), shape, part,
                           {pool.kernel(), 1}, scratch.data(), y.kernel().rows_at(first, count),
                           {});
  }

  AttentionShape shape;
  Cached cached;
  DecodeBatch reading;
  PairedTensor keys, qkv, pool, rotated, y;
};

class CudaAttention : public CudaRows {
 protected:
  /// Calls check(rows, longest) with rows of many lengths, widths and groups of heads.
  template <typename Check>
  void over_attended_rows(const Check& check) {
    constexpr std::int64_t kHeadWidths[] = {32, 48, 64, 96, 128};
    std::int64_t call = 0;
    // A row costs about as much as 60 rows of other operators.
    over_rows(Cached::kRows * 60, [&](std::int64_t some) {
      const std::int64_t group = 1 + call % 9, longest = ++call % 20 == 0 ? 1100 + some : 2 * some;
      AttendedRows rows(GetParam(), {2 * group, 2, kHeadWidths[call % 5]}, numbers_, longest,
                        *cpu_);
      check(rows, longest);
    });
  }
};

INSTANTIATE_TEST_SUITE_P(DTypes, CudaAttention, testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& test) {
                           return test.param == DType::kFloat32 ? "fp32" : "bf16";
                         });

/// Scores have an error of E u sum|q k| scale at most, with u = 2^-24 and |q|, |k| <= 2, in which
/// the weights differ relatively. Each sum over n positions adds n u. Values are at most 2.
TEST_P(CudaAttention, AgreesWithTheCpu) {
  over_attended_rows([&](AttendedRows& rows, std::int64_t longest) {
    cpu_->attention_decode(rows.rotated.cpu(), rows.shape, rows.reading, {rows.pool.cpu(), 1},
                           rows.y.cpu());
    rows.attend(0, Cached::kRows);
    const auto width = static_cast<double>(rows.shape.head_width);
    const double score = width * 0x1p-24 * 4 * std::sqrt(width);
    const double bound = 2 * (2 * score + 2 * static_cast<double>(longest) * 0x1p-24);
    const double rounding = GetParam() == DType::kBFloat16 ? 2 * 0x1p-8 : 0;
    EXPECT_LT(rows.y.largest_difference(), bound + rounding) << longest << " positions";
  });
}

TEST_P(CudaAttention, HasTheSameBitsInEveryBatch) {
  over_attended_rows([&](AttendedRows& rows, std::int64_t longest) {
    rows.attend(0, Cached::kRows);
    const PairedTensor together = rows.y;
    for (std::int64_t row = 0; row < Cached::kRows; ++row) rows.attend(row, 1);
    EXPECT_EQ(rows.y.different_from(together, rows.shape.q_cols()), 0) << longest << " positions";
  });
}

TEST_P(CudaRows, RotateAndStoreIsBitIdenticalToSeparateCalls) {
  constexpr std::int64_t kTokens = 48;  // with 7 heads and the values of 2
  over_rows(kTokens * 9, [&](std::int64_t some) {
    const AttentionShape shape{5, 2, some + some % 2};
    Cached cached(numbers_, 16);
    const DecodeBatch batch = cached.filling();
    const std::vector<std::int32_t> positions = indices(numbers_, kTokens, 30);
    PairedTensor rope = floats(30, shape.head_width), norm = floats(1, shape.head_width);
    const QkNormRope how{shape, norm.kernel(), norm.kernel(),
                         1e-6f, rope.kernel(), view(positions)};
    PairedTensor qkv = activations(kTokens, shape.qkv_cols());
    PairedTensor rotated = activations(kTokens, shape.q_cols() + shape.kv_cols());
    PairedTensor pool = activations(cached.pages(), 2 * 2 * 16 * shape.kv_cols());
    PairedTensor queries = rotated, filled = pool;
    cuda::qk_norm_rope(kDevice, qkv.kernel(), how, rotated.kernel());
    cuda::store_kv(kDevice, rotated.kernel(), qkv.kernel(), shape, batch, {pool.kernel(), 1});
    cuda::rotate_and_store(kDevice, qkv.kernel(), how, queries.kernel(), batch,
                           {filled.kernel(), 1});
    EXPECT_EQ(filled.different_from(pool, pool.cpu().cols), 0) << some;
    EXPECT_EQ(queries.different_from(rotated, shape.q_cols()), 0) << some;
  });
}

TEST_P(CudaRows, EmbeddingAndItsGradientAreBitIdenticalToTheCpu) {
  over_rows(kRows, [&](std::int64_t width) {
    const std::vector<std::int32_t> tokens = indices(numbers_, kRows, 40);
    PairedTensor table = floats(40, width), y = activations(kRows, width);
    cpu_->embed(table.cpu(), view(tokens), y.cpu());
    cuda::embed(kDevice, table.kernel(), view(tokens), y.kernel());
    EXPECT_EQ(y.different(), 0) << width;
    PairedTensor dy = activations(kRows, width), dtable = floats(40, width);
    cpu_->embed_backward(dy.cpu(), view(tokens), dtable.cpu());
    std::vector<std::int32_t> links(kRows);
    cuda::embed_backward(kDevice, dy.kernel(), view(tokens), links.data(), dtable.kernel());
    EXPECT_EQ(dtable.different(), 0) << width;
  });
}

// The head computes in fp32 only.
using CudaHead = CudaRows;
INSTANTIATE_TEST_SUITE_P(DTypes, CudaHead, testing::Values(DType::kFloat32));

constexpr std::int64_t kHeadRows = 40;

TEST_P(CudaHead, LogProbsEntropiesAndGradientsAreBitIdenticalToTheCpu) {
  std::int64_t call = 0;
  over_rows(kHeadRows, [&](std::int64_t some) {
    // One call in a hundred spans several parts of a row's sum.
    const std::int64_t vocabulary = ++call % 100 == 0 ? 2048 * (call % 3 + 1) + some : some;
    const std::vector<std::int32_t> targets = indices(numbers_, kHeadRows, vocabulary);
    PairedTensor logits = floats(kHeadRows, vocabulary), log_probs = floats(1, kHeadRows);
    PairedTensor entropies = floats(1, kHeadRows), log_sum = floats(1, kHeadRows);
    PairedTensor d_log_probs = floats(1, kHeadRows), d_entropies = floats(1, kHeadRows);
    const float temperature = call % 2 == 0 ? 1.0f : 0.7f;
    cpu_->log_probs(logits.cpu(), view(targets), temperature, log_probs.cpu(), entropies.cpu(),
                    log_sum.cpu());
    std::vector<float> scratch(
        static_cast<std::size_t>(kHeadRows * cuda::log_probs_scratch(vocabulary)));
    cuda::log_probs(kDevice, logits.kernel(), view(targets), temperature, scratch.data(),
                    log_probs.kernel(), entropies.kernel(), log_sum.kernel());
    EXPECT_EQ(log_probs.different() + entropies.different() + log_sum.different(), 0) << vocabulary;
    cpu_->log_probs_backward(logits.cpu(), view(targets), temperature, entropies.cpu(),
                             log_sum.cpu(), d_log_probs.cpu(), d_entropies.cpu());
    cuda::log_probs_backward(kDevice, logits.kernel(), view(targets), temperature,
                             entropies.kernel(), log_sum.kernel(), d_log_probs.kernel(),
                             d_entropies.kernel());
    EXPECT_EQ(logits.different(), 0) << vocabulary;
  });
}

/// Draws a token from each row with both implementations. `how(i)` describes the draw from row i.
template <typename How>
void expect_same_draws(Operators& cpu, Numbers& numbers, PairedTensor logits, const How& how) {
  PairedTensor log_probs(DType::kFloat32, 1, kHeadRows, numbers);
  std::vector<std::int32_t> cpu_ids(kHeadRows), ids(kHeadRows);
  std::vector<Draw> draws;
  for (std::int64_t i = 0; i < kHeadRows; ++i) {
    Draw& draw = draws.emplace_back(how(i));
    draw.row = kHeadRows - 1 - i;
    draw.key = {.seed = numbers.bits(), .index = static_cast<std::uint32_t>(i)};
  }
  const auto to = [](std::vector<std::int32_t>& all) {
    return Tensor{all.data(), 1, kHeadRows, kHeadRows, DType::kInt32};
  };
  cpu.sample(logits.cpu(), draws, {to(cpu_ids), log_probs.cpu()});
  std::vector<float> scratch(
      static_cast<std::size_t>(kHeadRows * cuda::sample_scratch(logits.cpu().cols)));
  cuda::sample(kDevice, logits.kernel(), draws, scratch.data(), {to(ids), log_probs.kernel()});
  EXPECT_EQ(ids, cpu_ids) << logits.cpu().cols;
  EXPECT_EQ(log_probs.different(), 0) << logits.cpu().cols;
}

TEST_P(CudaHead, SamplingIsBitIdenticalToTheCpu) {
  std::int64_t call = 0;
  over_rows(kHeadRows, [&](std::int64_t some) {
    const std::int64_t vocabulary = ++call % 100 == 0 ? 2048 * (call % 3 + 1) + some : some;
    expect_same_draws(*cpu_, numbers_, floats(kHeadRows, vocabulary), [](std::int64_t i) {
      return Draw{.temperature = 0.5f * static_cast<float>(i % 4)};
    });
  });
}

// Rows of subnormals give all tokens the same probability. They have more equal tokens than a
// window holds.
TEST_P(CudaHead, TopKAndTopPSamplingIsBitIdenticalToTheCpu) {
  constexpr double kTopP[] = {1, 1e-6, 0.3, 0.9, 0.95, 0.999, 1 - 1e-9};
  std::int64_t call = 0;
  over_rows(kHeadRows, [&](std::int64_t some) {
    const std::int64_t vocabulary = ++call % 50 == 0 ? 2048 * (call % 3 + 1) + some : some;
    const std::int64_t top_k[] = {0, 0, 0, 1, 3, 50, 1500, vocabulary, 1 << 30};
    expect_same_draws(*cpu_, numbers_, floats(kHeadRows, vocabulary), [&](std::int64_t) {
      return Draw{.temperature = 0.4f * static_cast<float>(1 + numbers_.bits() % 4),
                  .top_p = kTopP[numbers_.bits() % std::size(kTopP)],
                  .top_k = top_k[numbers_.bits() % std::size(top_k)]};
    });
  });
}

TEST_P(CudaHead, SumsOfSquaresAndAdamWAreBitIdenticalToTheCpu) {
  const AdamWStep how{.clip = 0.75f,
                      .keep = 0.99f,
                      .beta1 = 0.9f,
                      .one_minus_beta1 = 0.1f,
                      .beta2 = 0.95f,
                      .one_minus_beta2 = 0.05f,
                      .step_size = 0.01f,
                      .root_correction = 0.3f,
                      .eps = 1e-6f};
  over_rows(kRows, [&](std::int64_t width) {
    const std::int64_t count = kRows * width, block = 3 * width + 1;
    const auto flat = [&](Tensor x) { return x.elements_at(0, count); };
    PairedTensor g = floats(kRows, width), w = floats(kRows, width);
    PairedTensor m = floats(kRows, width), v = floats(kRows, width);
    std::vector<double> sums(static_cast<std::size_t>((count + block - 1) / block)), own = sums;
    cpu_->sums_of_squares(flat(g.cpu()), block, sums);
    cuda::sums_of_squares(kDevice, flat(g.kernel()), block,
                          {own.data(), 1, std::ssize(own), std::ssize(own), DType::kFloat64});
    EXPECT_EQ(own, sums) << width;
    cpu_->adamw(how, {flat(g.cpu()), flat(w.cpu()), flat(m.cpu()), flat(v.cpu())});
    cuda::adamw(kDevice, how,
                {flat(g.kernel()), flat(w.kernel()), flat(m.kernel()), flat(v.kernel())});
    EXPECT_EQ(w.different() + m.different() + v.different(), 0) << width;

    AdamWStep narrow = how;
    narrow.update = 7;
    narrow.element = std::int64_t{1} << 33;
    std::vector<std::uint16_t> moments(static_cast<std::size_t>(2 * count), 0x3f80), same = moments;
    const auto bf16 = [&](std::vector<std::uint16_t>& all, std::int64_t first) {
      return Tensor{all.data() + first, 1, count, count, DType::kBFloat16};
    };
    cpu_->adamw(narrow, {flat(g.cpu()), flat(w.cpu()), bf16(moments, 0), bf16(moments, count)});
    cuda::adamw(kDevice, narrow,
                {flat(g.kernel()), flat(w.kernel()), bf16(same, 0), bf16(same, count)});
    EXPECT_EQ(same, moments) << width;
    EXPECT_EQ(w.different(), 0) << width;
  });
}

TEST_P(CudaHead, QuantizationToNf4AndBackIsBitIdenticalToTheCpu) {
  constexpr std::int64_t kCount = 512 * nf4::kBlock;
  std::vector<float> weights;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const float x = numbers_.of_row(i / nf4::kBlock);
    weights.push_back(std::isfinite(x) ? x : 1.0f);
  }
  const float* const values = nf4::kValues.data();
  std::vector<std::uint8_t> codes(kCount / 2), own_codes = codes;
  std::vector<float> scales(kCount / nf4::kBlock), own_scales = scales, wide(kCount);
  std::vector<std::uint16_t> narrow(kCount);
  const cuda::Nf4Rows rows{own_codes.data(), own_scales.data(), values};
  cuda::quantize_nf4(kDevice, {weights.data(), 512, nf4::kBlock, nf4::kBlock, DType::kFloat32},
                     rows);
  cuda::dequantize_nf4(kDevice, rows, {wide.data(), 1, kCount, kCount, DType::kFloat32});
  cuda::dequantize_nf4(kDevice, rows, {narrow.data(), 1, kCount, kCount, DType::kBFloat16});
  for (std::size_t b = 0; b < scales.size(); ++b) {
    std::uint8_t* const of_block = codes.data() + b * nf4::kBlockBytes;
    scales[b] = nf4::quantize(weights.data() + b * nf4::kBlock, values, of_block);
    for (std::size_t i = 0; i < nf4::kBlock; ++i) {
      const float weight =
          nf4::weight_at(of_block, scales[b], static_cast<std::int64_t>(i), values);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[b * nf4::kBlock + i]),
                std::bit_cast<std::uint32_t>(weight));
      ASSERT_EQ(narrow[b * nf4::kBlock + i], to_bfloat16(weight));
    }
  }
  EXPECT_EQ(own_codes, codes);
  EXPECT_EQ(own_scales, scales);
}

TEST_P(CudaHead, SumsOverManyRowsDifferOnlyByRounding) {
  constexpr std::int64_t kMany = 3000, kWidth = 40;
  std::vector<float> dy, x, ones(kMany, 1.0f), weight(kWidth, 1.0f);
  for (std::int64_t i = 0; i < kMany * kWidth; ++i) {
    dy.push_back(numbers_.uniform(4));
    x.push_back(numbers_.uniform(4));
  }
  std::vector<float> dx(dy.size()), cpu_sum(kWidth), sum(kWidth);
  const auto matrix = [](std::vector<float>& all) {
    return Tensor{all.data(), std::ssize(all) / kWidth, kWidth, kWidth, DType::kFloat32};
  };
  const Tensor inverse_rms{ones.data(), 1, kMany, kMany, DType::kFloat32};
  cpu_->rms_norm_backward(matrix(dy), matrix(x), matrix(weight), inverse_rms, matrix(dx),
                          matrix(cpu_sum));
  cuda::rms_norm_backward(kDevice, matrix(dy), matrix(x), matrix(weight), inverse_rms, matrix(dx),
                          matrix(sum), partial_.data());
  for (std::size_t c = 0; c < kWidth; ++c) {
    double all = 0;
    for (std::size_t i = c; i < dy.size(); i += kWidth) all += std::abs(double{dy[i]} * x[i]);
    // As derived in model/cuda/kernels/rows/sums.h.
    const double roundings = kMany + 256 + 3000.0 / 256;
    EXPECT_LE(std::abs(cpu_sum[c] - sum[c]), roundings * 0x1p-24 * all);
  }
}

TEST(CudaPhilox, UniformNumbersMatchTheCpu) {
  Numbers numbers(3);
  const auto word = [&] { return static_cast<std::uint32_t>(numbers.bits()); };
  for (int i = 0; i < 1 << 20; ++i) {
    const RandomKey key{numbers.bits(), word() % 256, word(), word(), word() % (1 << 24), word()};
    ASSERT_EQ(cuda::uniform_of(key), random_uniform(key));
  }
}

}  // namespace
}  // namespace lie
