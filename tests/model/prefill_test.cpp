// Tests prefill over pages on emulated lanes: rows that share reads have the bits that they have
// alone, and the operators leave prefill to the library that they chose.
#include "model/operators/prefill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "model/cuda/kernels/kernels.h"
#include "model/cuda/operators.h"
#include "model/transformer/kv_cache.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "tests/guarded_operators.h"
#include "tests/model/operator_side.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

/// Rows of a sequence in a call: `rows` that follow `before` earlier positions.
struct OfSequence {
  std::int32_t before, rows;
};

/// A decode call with the rows of some sequences, whose pages hold random keys and values, and NaN
/// where they hold no position.
class Call {
 public:
  Call(test::Side& s, const AttentionShape& shape, const std::vector<OfSequence>& sequences)
      : shape_(shape), s_(s) {
    std::int32_t longest = 0;
    for (const OfSequence& of : sequences) longest = std::max(longest, of.before + of.rows);
    const std::int32_t width = (longest + 15) / 16,
                       pages = width * static_cast<std::int32_t>(sequences.size());
    std::vector<std::int32_t> table, slots;
    for (std::int32_t page = pages; page > 0; --page) table.push_back(page);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      const auto sequence = static_cast<std::int32_t>(i);
      for (std::int32_t t = 0; t < sequences[i].before + sequences[i].rows; ++t) {
        slots.push_back(table[static_cast<std::size_t>(sequence * width + t / 16)] * 16 + t % 16);
        if (t < sequences[i].before) continue;
        positions_.push_back(t);
        sequences_.push_back(sequence);
      }
    }
    pool_ = s_.output(pages + 1, 2 * 2 * 16 * shape.kv_cols());  // two layers
    DecodeBatch filling;
    filling.slots = s_.indices(slots);
    const auto held = std::ssize(slots);
    s_->store_kv(s_.put("keys", held, shape.q_cols() + shape.kv_cols()),
                 s_.put("values", held, shape.qkv_cols()), shape, filling, {pool_, 1});
    queries_ = s_.put("queries", rows(), shape.q_cols() + shape.kv_cols());
    batch_.positions = s_.indices(positions_);
    batch_.sequences = s_.indices(sequences_);
    batch_.table = s_.indices(table);
    batch_.table_width = width;
    batch_.longest = longest;
  }

  std::int64_t rows() const { return std::ssize(positions_); }
  DecodeBatch batch(bool on_host) const {
    DecodeBatch batch = batch_;
    if (on_host) batch.host_positions = positions_, batch.host_sequences = sequences_;
    return batch;
  }
  /// Computes by the operators.
  std::vector<float> attend(bool on_host) {
    const Tensor y = s_.output(rows(), shape_.q_cols());
    s_->attention_decode(queries_, shape_, batch(on_host), {pool_, 1}, y);
    return s_.get(y);
  }
  /// Computes by the own kernel, and appends the log-sums.
  std::vector<float> attend_by_kernel(bool on_host) {
    const Tensor y = s_.output(rows(), shape_.q_cols()),
                 log_sum = s_.float_output(rows(), shape_.heads);
    std::vector<float> scratch(
        static_cast<std::size_t>(rows() * cuda::attention_decode_scratch(shape_, batch_.longest)));
    cuda::attention_decode(cuda::Queue(), queries_, shape_, batch(on_host), {pool_, 1},
                           scratch.data(), y, log_sum);
    std::vector<float> all = s_.get(y), sums = s_.get(log_sum);
    all.insert(all.end(), sums.begin(), sums.end());
    return all;
  }
  /// Makes the keys and values of the last row's position NaN.
  void break_last_position() {
    DecodeBatch last;
    last.slots = s_.indices(
        {batch_.table.data[sequences_.back() * batch_.table_width + positions_.back() / 16] * 16 +
         positions_.back() % 16});
    const Tensor keys = s_.output(1, shape_.q_cols() + shape_.kv_cols()),
                 values = s_.output(1, shape_.qkv_cols());
    s_->store_kv(keys, values, shape_, last, {pool_, 1});
  }

 private:
  AttentionShape shape_;
  test::Side& s_;
  std::vector<std::int32_t> positions_, sequences_;
  Tensor pool_, queries_;
  DecodeBatch batch_;
};

test::Side emulated(DType dtype, CudaBits bits = CudaBits::kFast) {
  return {make_cuda_operators("cpu", dtype, 1, bits), /*padding=*/16};
}

/// Prefills that begin, end and continue within a page and a block of rows, around the splits at
/// 256, 1,024 and 2,048 positions, between rows that are none.
const std::vector<OfSequence> kSequences = {{40, 1},    {0, 64},   {37, 100},  {3, 63}, {512, 1},
                                            {961, 130}, {250, 65}, {2039, 70}, {7, 1}};

TEST(Prefills, AreSequencesWithManyRows) {
  std::vector<std::int32_t> positions, sequences;
  for (std::int32_t s = 0; s < std::ssize(kSequences); ++s) {
    for (std::int32_t i = 0; i < kSequences[static_cast<std::size_t>(s)].rows; ++i) {
      positions.push_back(kSequences[static_cast<std::size_t>(s)].before + i);
      sequences.push_back(s);
    }
  }
  DecodeBatch batch;
  EXPECT_TRUE(prefills_of(batch).empty());
  batch.host_positions = positions;
  batch.host_sequences = sequences;
  const std::vector<Prefill> found = prefills_of(batch);
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[1].first, 65);
  EXPECT_EQ(found[1].rows, 100);
  EXPECT_EQ(found[1].position, 37);
  EXPECT_EQ(found[1].sequence, 2);
  EXPECT_EQ(found[1].length(), 137);
  const DecodeBatch part = batch.rows_at(66, 64);  // a part of one of them
  ASSERT_EQ(prefills_of(part).size(), 1u);
  EXPECT_EQ(prefills_of(part)[0].first, 0);
  EXPECT_EQ(prefills_of(part)[0].position, 38);
}

class EmulatedPrefill : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!cuda::kernels_are_emulated()) GTEST_SKIP() << "the kernels of this build need a GPU";
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, EmulatedPrefill,
                         testing::Values(DType::kFloat32, DType::kBFloat16), [](const auto& test) {
                           return test.param == DType::kFloat32 ? "fp32" : "bf16";
                         });

TEST_P(EmulatedPrefill, RowsThatShareReadsHaveTheBitsThatTheyHaveAlone) {
  for (const std::int64_t group : {1, 2, 3, 5}) {
    for (const std::int64_t width : {48, 128}) {
      test::Side s = emulated(GetParam());
      Call call(s, {2 * group, 2, width}, kSequences);
      EXPECT_EQ(call.attend_by_kernel(true), call.attend_by_kernel(false))
          << group << " heads of " << width;
    }
  }
}

TEST_P(EmulatedPrefill, ALaterPositionThatIsNotFiniteChangesNoEarlierRow) {
  for (const std::int32_t rows : {65, 66, 67, 68}) {
    test::Side s = emulated(GetParam());
    const AttentionShape shape{4, 2, 64};
    Call call(s, shape, {{30, rows}});
    const std::vector<float> before = call.attend_by_kernel(true);
    call.break_last_position();
    const std::vector<float> after = call.attend_by_kernel(true);
    const std::int64_t last = (rows - 1) * shape.q_cols();
    for (std::int64_t i = 0; i < rows * shape.q_cols(); ++i) {
      const float x = after[static_cast<std::size_t>(i)];
      if (i >= last) {
        EXPECT_TRUE(std::isnan(x)) << i;
      } else {
        ASSERT_EQ(x, before[static_cast<std::size_t>(i)]) << i;
      }
    }
  }
}

TEST_P(EmulatedPrefill, ExactOperatorsComputeAllRowsByTheOwnKernel) {
  test::Side s = emulated(GetParam(), CudaBits::kExact);
  Call call(s, {4, 2, 64}, kSequences);
  std::vector<float> own = call.attend_by_kernel(false);
  own.resize(static_cast<std::size_t>(call.rows() * 4 * 64));
  EXPECT_EQ(call.attend(true), own);
  EXPECT_TRUE(s->choices(PassKind::kGeneration, {4, 2, 64}).empty());
}

/// A device that captures steps, and notes how many prefills each call of its attention has.
class WatchedDevice : public test::GuardedOperators {
 public:
  void attention_decode(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                        KvPages pages, Tensor y) override {
    if (pages.layer == 0) prefills.push_back(prefills_of(batch));
    GuardedOperators::attention_decode(rotated, shape, batch, pages, y);
  }
  std::vector<std::vector<Prefill>> prefills;
};

TEST(Prefills, AreInCallsOfPromptsButNotInStepsThatMayBeCaptured) {
  WatchedDevice device;
  const ModelConfig config = test::tiny_config();
  const Weights weights = test::tiny_weights(config, device);
  Transformer transformer(weights);
  KvCache cache(config, device, 40);
  const std::int32_t prompt = cache.open(), other = cache.open();
  const auto decode = [&](std::int64_t count, bool wants_logits) {
    std::vector<DecodeRow> rows(static_cast<std::size_t>(count), {1, prompt, wants_logits});
    rows.insert(rows.begin(), {1, other, wants_logits});
    transformer.decode(rows, cache);
    return device.prefills.back();
  };
  EXPECT_TRUE(decode(63, false).empty());
  const std::vector<Prefill> found = decode(80, false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 1);
  EXPECT_EQ(found[0].rows, 80);
  EXPECT_EQ(found[0].position, 63);
  EXPECT_EQ(found[0].sequence, 1);
  EXPECT_TRUE(decode(80, true).empty());
}

double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  double error = 0, all = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    error += std::pow(double{got[i]} - double{expected[i]}, 2);
    all += std::pow(double{expected[i]}, 2);
  }
  return std::sqrt(error / all);
}

TEST_F(EmulatedPrefill, OnlyPrefillInBf16IsLeftToTheLibrary) {
  const AttentionShape shape{4, 2, 64};
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16}) {
    test::Side s = emulated(dtype);
    Call call(s, shape, kSequences);
    const std::vector<float> own = call.attend(false), used = call.attend(true);
    std::int64_t row = 0, differing = 0;
    for (const OfSequence& of : kSequences) {
      const auto begin = static_cast<std::ptrdiff_t>(row * shape.q_cols()),
                 end = begin + static_cast<std::ptrdiff_t>(of.rows * shape.q_cols());
      const std::vector<float> a(own.begin() + begin, own.begin() + end),
          b(used.begin() + begin, used.begin() + end);
      if (a != b) ++differing;
      if (of.rows < kPrefillRows) {
        EXPECT_EQ(a, b);
      }
      EXPECT_LT(relative_error(b, a), 0.01);
      row += of.rows;
    }
    EXPECT_EQ(differing, dtype == DType::kBFloat16 ? 5 : 0);
  }
}

TEST_F(EmulatedPrefill, TheChoiceIsNamed) {
  test::Side s = emulated(DType::kBFloat16);
  const std::vector<std::string> choices = s->choices(PassKind::kGeneration, {4, 2, 64});
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].find("matmuls of few rows: "), 0u);
  EXPECT_EQ(choices[1].find("attention of prefill: plain attention: its bits repeat"), 0u)
      << choices[1];
}

}  // namespace
}  // namespace lie
