// Tests which attention of prefill is used. Plain attention stands for a library, and breaks in the
// ways in which a wrong build could. The own kernel, on emulated lanes, is what it is compared
// with.
#include "model/cuda/prefill_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "model/aten/cudnn_calls.h"
#include "model/aten/device.h"
#include "model/cuda/kernels/kernels.h"
#include "model/cuda/operators.h"
#include "model/cuda/placed_prefills.h"
#include "model/cuda/prefill_check.h"
#include "model/cuda/queue.h"

namespace lie {
namespace {

/// A defect of a library. kNone: plain attention, rounded to bf16.
enum class Defect {
  kNone,
  kRefusesHeads,
  kRefusesShapes,
  kThrows,
  kIgnoresThatASequenceContinues,
  kSeesALaterRow,
  kForgetsTheLastPage,
  kTakesTheNextTable,
  kSwapsKeysAndValues,
  kSwapsKvHeads,
  kIgnoresTheLastSequence,
  kMultipliesWhatNoPositionHolds,
  kWritesToOtherRows,
  kChangesABitLate,
};

class Library final : public cuda::PrefillAttention {
 public:
  explicit Library(Defect defect) : defect_(defect) {}

  std::string name() const override { return "the library"; }
  std::string refusal(const AttentionShape&, at::ScalarType) override {
    return defect_ == Defect::kRefusesHeads ? "it lacks such heads" : "";
  }
  bool forward(const cuda::PrefillInputs& in, const at::Tensor& y) override {
    ++calls_;
    if (defect_ == Defect::kThrows) fail("the library has no kernel for this device");
    if (defect_ == Defect::kRefusesShapes) return false;
    std::vector<Prefill> prefills(in.prefills.begin(), in.prefills.end());
    cuda::PrefillInputs used = in;
    used.prefills = prefills;
    Prefill& last = prefills.back();
    if (defect_ == Defect::kIgnoresThatASequenceContinues) last.position = 0;
    if (defect_ == Defect::kSeesALaterRow) prefills[1].position += 1;
    if (defect_ == Defect::kForgetsTheLastPage) prefills[1].position -= 16;
    if (defect_ == Defect::kTakesTheNextTable) used.table = in.table.roll(1, 0);
    if (defect_ == Defect::kSwapsKeysAndValues) used.pages = in.pages.flip(1);
    if (defect_ == Defect::kSwapsKvHeads) used.pages = in.pages.roll(1, 2);
    if (defect_ == Defect::kMultipliesWhatNoPositionHolds) {
      used.pages = in.pages + 0 * in.pages.select(3, 15).unsqueeze(3);
    }
    plain_->forward(used, y);
    if (defect_ == Defect::kIgnoresTheLastSequence) y.narrow(0, last.first, last.rows).zero_();
    if (defect_ == Defect::kWritesToOtherRows) y.select(0, 0).zero_();
    if (defect_ == Defect::kChangesABitLate && calls_ == 3) y[last.first][1] += 0.0625f;
    return true;
  }

 private:
  Defect defect_;
  int calls_ = 0;
  std::unique_ptr<cuda::PrefillAttention> plain_ = cuda::make_plain_prefill_attention();
};

class PrefillAttention : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::kernels_are_emulated()) GTEST_SKIP() << "the kernels of this build need a GPU";
  }
  static std::string defect_on_cpu(Defect defect, const AttentionShape& heads = {4, 2, 16}) {
    Library library(defect);
    return cuda::prefill_defect(library, heads, at::kCPU, cuda::Queue());
  }
};

TEST_F(PrefillAttention, ALibraryWithRoundingErrorsOnlyPasses) {
  for (const AttentionShape& heads :
       {AttentionShape{4, 2, 16}, {2, 2, 32}, {7, 1, 64}, {6, 2, 128}}) {
    EXPECT_EQ(defect_on_cpu(Defect::kNone, heads), "") << heads.heads;
  }
}

TEST_F(PrefillAttention, RefusalsAndExceptionsAreTheReason) {
  EXPECT_EQ(defect_on_cpu(Defect::kRefusesHeads), "it lacks such heads");
  EXPECT_EQ(defect_on_cpu(Defect::kRefusesShapes), "it has no kernel for the shapes of the check");
  EXPECT_EQ(defect_on_cpu(Defect::kThrows), "the library has no kernel for this device");
}

TEST_F(PrefillAttention, WrongResultsAreFound) {
  for (const Defect defect :
       {Defect::kIgnoresThatASequenceContinues, Defect::kSeesALaterRow, Defect::kForgetsTheLastPage,
        Defect::kTakesTheNextTable, Defect::kSwapsKeysAndValues, Defect::kSwapsKvHeads,
        Defect::kIgnoresTheLastSequence, Defect::kMultipliesWhatNoPositionHolds}) {
    const std::string found = defect_on_cpu(defect);
    EXPECT_EQ(found.find("its results differ from the own kernel's by"), 0u)
        << static_cast<int>(defect) << ": " << found;
  }
}

TEST_F(PrefillAttention, RowsOfOthersAndBitsThatDoNotRepeatAreFound) {
  EXPECT_EQ(defect_on_cpu(Defect::kWritesToOtherRows), "it writes to rows of other sequences");
  EXPECT_EQ(defect_on_cpu(Defect::kChangesABitLate), "the bits of its results do not repeat");
}

TEST_F(PrefillAttention, CudnnIsNotUsedWithoutAGpu) {
  const auto cudnn = cuda::make_cudnn_prefill_attention(at::kCPU);
  EXPECT_NE(cuda::prefill_defect(*cudnn, {4, 2, 16}, at::kCPU, cuda::Queue()), "");
}

class PlacedPrefills : public testing::Test {
 protected:
  /// Sequences of 70, 160 and 65 positions, of which the call has 64, 100 and 65, beside another
  /// one.
  PlacedPrefills() {
    const AttentionShape shape{2, 1, 16};
    const std::vector<Prefill> prefills = {{3, 64, 6, 0}, {67, 100, 60, 2}, {167, 65, 0, 1}};
    const at::Tensor table = at::arange(40, at::kInt).view({4, 10}).add(100);
    lists_ = cuda::PlacedPrefills({{}, {}, table, shape, prefills}, aten::CudnnCalls(at::kCPU));
  }
  template <typename T>
  static std::vector<T> list(const T* first, std::int64_t count) {
    return {first, first + count};
  }
  cuda::PlacedPrefills lists_;
};

TEST_F(PlacedPrefills, AreRoundedUpToPowersOfTwo) {
  EXPECT_EQ(lists_.sequences(), 4);
  EXPECT_EQ(lists_.longest(), 128);
  EXPECT_EQ(lists_.table_width(), 16);
}

TEST_F(PlacedPrefills, HoldRowsAndPositionsOfEachSequence) {
  EXPECT_EQ(list(lists_.rows(), 4), (std::vector<std::int32_t>{64, 100, 65, 0}));
  EXPECT_EQ(list(lists_.lengths(), 4), (std::vector<std::int32_t>{70, 160, 65, 0}));
  EXPECT_EQ(list(lists_.offsets(96), 5),
            (std::vector<std::int64_t>{288, 6432, 16032, 22272, 22272}));
  EXPECT_EQ(list(lists_.offsets(1), 5), (std::vector<std::int64_t>{3, 67, 167, 232, 232}));
}

TEST_F(PlacedPrefills, RepeatTheLastPageOfASequence) {
  std::vector<std::int32_t> expected;
  for (int p = 0; p < 16; ++p) expected.push_back(100 + std::min(p, 4));
  for (int p = 0; p < 16; ++p) expected.push_back(120 + std::min(p, 9));
  for (int p = 0; p < 16; ++p) expected.push_back(110 + std::min(p, 4));
  for (int p = 0; p < 16; ++p) expected.push_back(100);  // of no sequence: any page
  EXPECT_EQ(list(lists_.table(), 64), expected);
}

TEST_F(PlacedPrefills, ClearWhatFollowsTheEndInAPageThatIsNotFull) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor all = at::full({140, 3, 2, 2, 16, 4}, nan), layer = all.select(1, 2);
  lists_.clear_past_end(layer);
  EXPECT_EQ(all.isnan().logical_not().sum().item<std::int64_t>(), 2 * 2 * (10 + 15) * 4);
  EXPECT_TRUE(layer[104].narrow(2, 6, 10).eq(0).all().item<bool>());  // 70 is 4 pages and 6
  EXPECT_TRUE(layer[114].narrow(2, 1, 15).eq(0).all().item<bool>());  // 65 is 4 pages and 1
}

class PrefillOnAGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (usable_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  }
  /// Checks cuDNN as often as asked. Each check computes three times.
  static std::string defect_of_cudnn(const AttentionShape& heads, int times = 1) {
    const at::Device device = aten::usable_device("cuda");
    const auto cudnn = cuda::make_cudnn_prefill_attention(device);
    std::string defect;
    for (int i = 0; i < times && defect.empty(); ++i) {
      defect = cuda::prefill_defect(*cudnn, heads, device, cuda::current_queue(device.index()));
    }
    return defect;
  }
};

TEST_F(PrefillOnAGpu, TheHeadsOfUsualModelsHaveNoDefect) {
  for (const AttentionShape& heads :
       {AttentionShape{16, 8, 128}, {32, 8, 128}, {40, 8, 128}, {32, 8, 64}, {9, 3, 64}}) {
    EXPECT_EQ(defect_of_cudnn(heads), "") << heads.heads;
  }
}

TEST_F(PrefillOnAGpu, AHundredRepetitionsAreBitIdentical) {
  EXPECT_EQ(defect_of_cudnn({16, 8, 128}, 34), "");
}

}  // namespace
}  // namespace lie
