// Tests which attention is chosen, on the CPU: plain attention in bf16 stands for a library, and
// breaks in the ways in which a wrong build could.
#include "model/aten/packed_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "model/aten/cudnn_attention.h"
#include "model/aten/device.h"

namespace lie::aten {
namespace {

/// A defect of a library. kNone: plain attention, rounded to bf16.
enum class Defect {
  kNone,
  kRefuses,
  kThrows,
  kForgetsKeys,
  kShiftsKeysByARow,
  kIgnoresTheLastSequence,
  kWritesNan,
  kSwapsKvHeads,
  kRoundsLogSums,
  kChangesAGradientBit,
  kChangesAnOutputBitLate,
};

class Library final : public PackedAttention {
 public:
  explicit Library(Defect defect) : defect_(defect) {}

  std::string name() const override { return "the library"; }
  std::string refusal(const AttentionShape&, at::ScalarType) override {
    return defect_ == Defect::kRefuses ? "it lacks such heads" : "";
  }
  void forward(const AttentionInputs& in, const at::Tensor& y, const at::Tensor& log_sum) override {
    ++calls_;
    if (defect_ == Defect::kThrows) fail("the library has no kernel for this device");
    AttentionInputs used = in;
    if (defect_ == Defect::kForgetsKeys) {
      used.rotated = in.rotated.clone();
      used.rotated.narrow(0, 100, 300).narrow(1, in.shape.q_cols(), in.shape.kv_cols()).zero_();
    }
    if (defect_ == Defect::kShiftsKeysByARow) {
      used.rotated = in.rotated.clone();
      used.rotated.narrow(1, in.shape.q_cols(), in.shape.kv_cols())
          .copy_(in.rotated.narrow(1, in.shape.q_cols(), in.shape.kv_cols()).roll(1, 0));
    }
    if (defect_ == Defect::kSwapsKvHeads) {
      used.values = in.values.roll(in.shape.head_width, 1);
    }
    plain_->forward(used, y, log_sum);
    if (defect_ == Defect::kIgnoresTheLastSequence) y.narrow(0, in.starts[5], 300).zero_();
    if (defect_ == Defect::kWritesNan) y[3][0] = std::numeric_limits<float>::quiet_NaN();
    if (defect_ == Defect::kRoundsLogSums) log_sum.mul_(1.05);
    if (defect_ == Defect::kChangesAnOutputBitLate && calls_ == 3) y[700][1] += 0.0625f;
  }
  void backward(const AttentionInputs& in, const at::Tensor& dy, const at::Tensor& y,
                const at::Tensor& log_sum, const at::Tensor& d_rotated,
                const at::Tensor& d_values) override {
    plain_->backward(in, dy, y, log_sum, d_rotated, d_values);
    if (defect_ == Defect::kChangesAGradientBit && calls_ == 2) d_values[7][3] += 0.0625f;
  }

 private:
  Defect defect_;
  int calls_ = 0;
  std::unique_ptr<PackedAttention> plain_ = make_plain_attention();
};

constexpr AttentionShape kHeads{4, 2, 16};

AttentionChoice choose(Library& library, PackedAttention& other) {
  return choose_attention(library, other, kHeads, at::kCPU);
}

/// Returns the reason for which a library with the defect is not used.
std::string reason_against(Defect defect) {
  Library library(defect);
  const auto other = make_flash_attention(1);
  const AttentionChoice choice = choose(library, *other);
  EXPECT_EQ(choice.used, other.get());
  EXPECT_EQ(choice.reason.find("LibTorch's FlashAttention 2, not the library: "), 0u)
      << choice.reason;
  return choice.reason;
}

bool says(const std::string& reason, const char* part) {
  return reason.find(part) != std::string::npos;
}

TEST(ChooseAttention, ALibraryWithRoundingErrorsOnlyIsUsedAndNamed) {
  Library library(Defect::kNone);
  const auto other = make_flash_attention(1);
  const AttentionChoice choice = choose(library, *other);
  EXPECT_EQ(choice.used, &library);
  EXPECT_EQ(choice.reason.find("the library: "), 0u) << choice.reason;
}

TEST(ChooseAttention, OneKvHeadPerQueryHeadPassesToo) {
  Library library(Defect::kNone);
  EXPECT_EQ(attention_defect(library, {2, 2, 32}, at::kCPU), "");
}

TEST(ChooseAttention, ARefusalIsTheReason) {
  EXPECT_TRUE(says(reason_against(Defect::kRefuses), "it lacks such heads"));
}

TEST(ChooseAttention, AnExceptionIsTheReason) {
  EXPECT_TRUE(says(reason_against(Defect::kThrows), "no kernel for this device"));
}

TEST(ChooseAttention, WrongOutputsAreNamed) {
  for (const Defect defect :
       {Defect::kForgetsKeys, Defect::kShiftsKeysByARow, Defect::kIgnoresTheLastSequence,
        Defect::kWritesNan, Defect::kSwapsKvHeads}) {
    const std::string reason = reason_against(defect);
    EXPECT_TRUE(says(reason, "its outputs differ")) << reason;
  }
}

TEST(ChooseAttention, WrongLogSumsAreNamed) {
  EXPECT_TRUE(says(reason_against(Defect::kRoundsLogSums), "its log-sums differ"));
}

TEST(ChooseAttention, ASingleBitThatDoesNotRepeatIsFound) {
  EXPECT_TRUE(says(reason_against(Defect::kChangesAGradientBit),
                   "the bits of its gradients of values do not repeat"));
  EXPECT_TRUE(says(reason_against(Defect::kChangesAnOutputBitLate),
                   "the bits of its outputs do not repeat"));
}

TEST(ChooseAttention, CudnnIsNotUsedWithoutAGpu) {
  const auto other = make_flash_attention(1);
  const auto cudnn = make_cudnn_attention(at::kCPU, *other);
  EXPECT_NE(attention_defect(*cudnn, kHeads, at::kCPU), "");
}

/// Returns starts of sequences of all magnitudes, which have 16,384 rows together.
std::vector<std::int32_t> ragged_starts() {
  std::vector<std::int32_t> starts{0};
  for (const std::int32_t length : {8192, 3000, 1700, 1, 64, 1000, 900, 500, 511, 300}) {
    starts.push_back(starts.back() + length);
  }
  starts.push_back(16384);
  return starts;
}

/// Computes with `by` as often as asked, from equal inputs. Returns whether all bits repeat.
bool repeats(PackedAttention& by, const std::vector<std::int32_t>& starts, int times,
             at::Device device) {
  const AttentionShape shape{16, 8, 128};
  const auto options = at::TensorOptions().dtype(at::kBFloat16).device(device);
  const auto waves = [&](std::int64_t cols, double pace) {
    const at::Tensor steps = at::arange(starts.back() * cols, options.dtype(at::kFloat)) * pace;
    return at::sin(steps).view({starts.back(), cols}).to(at::kBFloat16);
  };
  const at::Tensor device_starts = at::tensor(starts, at::kInt).to(device);
  std::int64_t longest = 0;
  for (std::size_t s = 1; s < starts.size(); ++s) {
    longest = std::max<std::int64_t>(longest, starts[s] - starts[s - 1]);
  }
  const AttentionInputs in{waves(shape.q_cols() + shape.kv_cols(), 0.37),
                           waves(shape.kv_cols(), 0.53),
                           shape,
                           starts,
                           device_starts,
                           longest};
  const at::Tensor dy = waves(shape.q_cols(), 0.71);
  std::vector<at::Tensor> first;
  for (int i = 0; i < times; ++i) {
    const at::Tensor y = at::zeros_like(dy), d_rotated = at::zeros_like(in.rotated),
                     d_values = at::zeros_like(in.values),
                     log_sum = at::zeros({starts.back(), shape.heads}, options.dtype(at::kFloat));
    by.forward(in, y, log_sum);
    by.backward(in, dy, y, log_sum, d_rotated, d_values);
    if (i == 0) first = {y, log_sum, d_rotated, d_values};
    if (!y.equal(first[0]) || !log_sum.equal(first[1]) || !d_rotated.equal(first[2]) ||
        !d_values.equal(first[3])) {
      return false;
    }
  }
  return true;
}

TEST(AttentionOnAGpu, AHundredRepetitionsAreBitIdentical) {
  if (usable_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  const at::Device device = usable_device("cuda");
  const auto flash = make_flash_attention(1);
  const auto cudnn = make_cudnn_attention(device, *flash);
  ASSERT_EQ(attention_defect(*cudnn, {16, 8, 128}, device), "");
  EXPECT_TRUE(repeats(*cudnn, ragged_starts(), 100, device));
  EXPECT_TRUE(repeats(*cudnn, {0, 16384}, 100, device));
}

TEST(AttentionOnAGpu, EveryShapeOfQwen3HasNoDefect) {
  if (usable_gpus() == 0) GTEST_SKIP() << "needs a GPU";
  const at::Device device = usable_device("cuda");
  const auto flash = make_flash_attention(1);
  const auto cudnn = make_cudnn_attention(device, *flash);
  for (const AttentionShape& heads :
       {AttentionShape{16, 8, 128}, AttentionShape{32, 8, 128}, AttentionShape{40, 8, 128},
        AttentionShape{32, 8, 64}, AttentionShape{9, 3, 64}}) {
    EXPECT_EQ(attention_defect(*cudnn, heads, device), "") << heads.heads;
  }
}

}  // namespace
}  // namespace lie::aten
