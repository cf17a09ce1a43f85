// Builds cuDNN's plans for an H200 without a GPU, and reads the machine code that cuDNN compiled.
#include "model/cudnn/attention_plans.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/cudnn/device_properties.h"
#include "tests/cudnn/fake_driver.h"

namespace lie::cudnn {
namespace {

constexpr std::int64_t kStackOfLibrary = 88;  // bytes that cuDNN's own kernels have

/// One sequence of a whole pass, by some of the heads of a Qwen3 model: a call divides them.
AttentionSizes sizes(std::int64_t longest, std::int64_t head_width, std::int64_t sequences = 1) {
  const std::int64_t heads = 16, kv_heads = 8;
  AttentionSizes sizes;
  sizes.sequences = sequences;
  sizes.longest = longest;
  sizes.tokens = 16384;
  sizes.heads = 4;
  sizes.kv_heads = 2;
  sizes.head_width = head_width;
  sizes.rotated_stride = sizes.d_rotated_stride = (heads + kv_heads) * head_width;
  sizes.values_stride = (heads + 2 * kv_heads) * head_width;
  sizes.y_stride = sizes.dy_stride = heads * head_width;
  sizes.log_sum_stride = heads;
  sizes.d_kv_stride = kv_heads * head_width;
  return sizes;
}

class AttentionPlansForH200 : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    ASSERT_EQ(plans_.refusal(), "");
    test::take_loaded_kernels();
  }
  /// Checks a plan that has just been compiled: one kernel on the tensor cores, without a stack.
  static void expect_one_forward_kernel(const AttentionPlan& plan) {
    ASSERT_EQ(plan.refusal, "");
    EXPECT_LT(plan.workspace_bytes, 1 << 20);
    const auto kernels = test::take_loaded_kernels();
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_NE(kernels[0].name.find("sm90_flash_fprop_wgmma"), std::string::npos) << kernels[0].name;
    EXPECT_GE(kernels[0].tensor_core_instructions, GetParam() / 16);
    EXPECT_LE(kernels[0].stack_bytes, 8);
  }
  AttentionPlans plans_{test::kH200};
};

INSTANTIATE_TEST_SUITE_P(HeadWidths, AttentionPlansForH200, testing::Values(64, 128));

TEST_P(AttentionPlansForH200, ForwardPassesRunOnTensorCoresWithoutAStack) {
  expect_one_forward_kernel(plans_.forward_plan(sizes(16384, GetParam())));
}

TEST_P(AttentionPlansForH200, DeterministicBackwardPassesRunOnTensorCores) {
  const AttentionPlan& plan = plans_.backward_plan(sizes(16384, GetParam()));
  ASSERT_EQ(plan.refusal, "");
  const auto kernels = test::take_loaded_kernels();
  ASSERT_FALSE(kernels.empty());
  EXPECT_NE(kernels[0].name.find("sm90_flash_bprop_wgmma"), std::string::npos) << kernels[0].name;
  EXPECT_GE(kernels[0].tensor_core_instructions, 8);
  EXPECT_LE(kernels[0].stack_bytes, kStackOfLibrary);
}

TEST_P(AttentionPlansForH200, TheWorkspaceOfABackwardPassIsTheStoredProductsAndSums) {
  const AttentionSizes of = sizes(16384, GetParam());
  const std::int64_t stored = 2 * of.heads * of.longest * of.longest;
  ASSERT_LE(stored, kMostStoredBytes);
  const AttentionPlan& plan = plans_.backward_plan(of);
  ASSERT_EQ(plan.refusal, "");
  EXPECT_GE(plan.workspace_bytes, stored);
  EXPECT_LE(plan.workspace_bytes, stored + (std::int64_t{1} << 30));
}

TEST_P(AttentionPlansForH200, ManyShortSequencesShareAPlan) {
  const AttentionPlan& plan = plans_.backward_plan(sizes(512, GetParam(), 32));
  EXPECT_EQ(plan.refusal, "");
  EXPECT_LE(plan.workspace_bytes, kMostStoredBytes);
  const auto compiled = test::take_loaded_kernels().size();
  EXPECT_EQ(&plans_.backward_plan(sizes(512, GetParam(), 32)), &plan);
  EXPECT_EQ(test::take_loaded_kernels().size(), 0u) << "compiled again after " << compiled;
}

/// Sequences of a decode call, whose rows continue up to 32,768 positions in pages of 16.
PagedSizes paged_sizes(std::int64_t head_width, std::int64_t sequences, std::int64_t longest) {
  const std::int64_t heads = 16, kv_heads = 8, layers = 28, page_tokens = 16;
  PagedSizes sizes;
  sizes.sequences = sequences;
  sizes.longest = longest;
  sizes.heads = heads;
  sizes.kv_heads = kv_heads;
  sizes.head_width = head_width;
  sizes.queries_stride = (heads + kv_heads) * head_width;
  sizes.y_stride = heads * head_width;
  sizes.pages = 20'000;
  sizes.page_tokens = page_tokens;
  sizes.page_stride = layers * 2 * page_tokens * kv_heads * head_width;
  sizes.table_width = 32'768 / page_tokens;
  return sizes;
}

TEST_P(AttentionPlansForH200, PassesOverPagesRunOnTensorCoresWithoutAStack) {
  expect_one_forward_kernel(plans_.paged_plan(paged_sizes(GetParam(), 2, 512)));
}

TEST_P(AttentionPlansForH200, PassesOverPagesHaveOneEngineForEveryNumberOfRows) {
  const std::string engine = plans_.paged_plan(paged_sizes(GetParam(), 8, 512)).engine;
  for (const std::int64_t rows : {64, 512, 8192, 32768}) {
    for (const std::int64_t sequences : {1, 8, 128}) {
      const AttentionPlan& plan = plans_.paged_plan(paged_sizes(GetParam(), sequences, rows));
      EXPECT_EQ(plan.refusal, "") << sequences << " x " << rows;
      EXPECT_EQ(plan.engine, engine) << sequences << " x " << rows;
      EXPECT_LT(plan.workspace_bytes, 1 << 20);
    }
  }
}

TEST(AttentionPlans, AWidthThatCudnnLacksIsRefusedWithAReasonOfOneLine) {
  AttentionPlans plans(test::kH200);
  const std::string& refusal = plans.backward_plan(sizes(1024, 260)).refusal;
  EXPECT_NE(refusal, "");
  EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
}

TEST(AttentionPlans, PropertiesThatAreNoDeviceAreRefused) {
  EXPECT_NE(AttentionPlans("{}").refusal(), "");
}

}  // namespace
}  // namespace lie::cudnn
