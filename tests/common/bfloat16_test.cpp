#include "common/base/dtype.h"
#include "common/io/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/common/golden_rows.h"

namespace lie {
namespace {

TEST(BFloat16, RoundsAsPyTorchDoes) {
  for (const JsonRow& row : golden_rows("bfloat16.jsonl")) {
    const auto fp32 = row.object().at("fp32").get<std::vector<std::uint32_t>>();
    const auto bf16 = row.object().at("bf16").get<std::vector<std::uint16_t>>();
    ASSERT_EQ(fp32.size(), bf16.size());
    for (std::size_t i = 0; i < fp32.size(); ++i) {
      const std::uint16_t rounded = to_bfloat16(std::bit_cast<float>(fp32[i]));
      if (std::isnan(from_bfloat16(bf16[i]))) {  // PyTorch's NaN bits depend on the instruction set
        EXPECT_TRUE(std::isnan(from_bfloat16(rounded))) << row.place() << ' ' << fp32[i];
      } else {
        EXPECT_EQ(rounded, bf16[i]) << row.place() << ' ' << fp32[i];
      }
    }
  }
}

TEST(BFloat16, RoundingRestoresEveryWidenedNumber) {
  for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const float wide = from_bfloat16(static_cast<std::uint16_t>(bits));
    EXPECT_TRUE(std::isnan(wide) || to_bfloat16(wide) == bits) << bits;
  }
}

}  // namespace
}  // namespace lie
