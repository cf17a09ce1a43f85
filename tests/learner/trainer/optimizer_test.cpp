#include "learner/trainer/optimizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/error.h"
#include "learner/trainer/optimizer_shards.h"
#include "tests/guarded_operators.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"
#include "tests/learner/trainer/moments_golden.h"
#include "tests/learner/update/golden/golden.h"

namespace lie {
namespace {

using test::host, test::row_of;

/// 12 decayed elements, 4 that belong to no parameter, 8 that are not decayed.
const std::vector<Parameter> kLayout = {{"matrix", 0, 3, 4, true}, {"norm", 16, 1, 8, false}};
constexpr std::size_t kWeights = 24;

/// Spreads 20 golden values over the layout.
std::vector<float> spread(std::span<const double> values) {
  std::vector<float> flat(kWeights, 0.0F);
  for (std::size_t i = 0; i < 20; ++i) flat[i < 12 ? i : i + 4] = static_cast<float>(values[i]);
  return flat;
}

constexpr FlatRange kWhole = {0, kWeights};

/// The operators that hold all moments of these tests.
Operators& cpu() {
  static const std::unique_ptr<Operators> operators = make_cpu_operators(1);
  return *operators;
}

AdamW adamw_of(const OptimizerOptions& options) { return AdamW(options, cpu(), kLayout, kWhole); }

double norm_of(const std::vector<float>& gradient) {
  const auto alone = solo_collective();
  return gradient_norm(*alone, cpu(), row_of(gradient), std::ssize(gradient));
}

/// Applies one update with the norm of `gradient`.
UpdateOutcome update(AdamW& adamw, std::int64_t step, const std::vector<float>& gradient,
                     std::vector<float>& weights) {
  const Tensor row = row_of(gradient);
  return adamw.update(step, norm_of(gradient), row, row_of(weights));
}

void expect_close(std::span<const float> actual, std::span<const double> golden) {
  const auto expected = spread(golden);
  for (std::size_t i = 0; i < kWeights; ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-6 * std::max(0.01, std::abs(double{expected[i]}))) << i;
  }
}

OptimizerOptions golden_options() {
  return {.learning_rate = 1e-2, .beta2 = 0.99, .weight_decay = 0.1, .warmup = 3};
}

TEST(AdamW, AgreesWithPyTorch) {
  AdamW adamw = adamw_of(golden_options());
  auto weights = spread(golden::kStartWeights);
  for (std::size_t u = 0; u < 6; ++u) {
    const auto outcome = update(
        adamw, 1, spread(std::span<const double>(golden::kGradients).subspan(u * 20, 20)), weights);
    EXPECT_NEAR(outcome.grad_norm, golden::kNorms[u], 1e-7 * golden::kNorms[u]);
    EXPECT_NEAR(outcome.learning_rate, golden::kRates[u], 1e-15);
  }
  expect_close(weights, golden::kEndWeights);
  expect_close(host(adamw.first_moment()), golden::kEndFirst);
  expect_close(host(adamw.second_moment()), golden::kEndSecond);
  EXPECT_EQ(adamw.updates(), 6);
}

TEST(AdamW, PaddingElementsAreUnchanged) {
  AdamW adamw = adamw_of(golden_options());
  std::vector<float> weights(kWeights, 1.0F);
  const std::vector<float> gradient(kWeights, 1.0F);
  for (int u = 0; u < 3; ++u) update(adamw, 1, gradient, weights);
  for (std::size_t i = 12; i < 16; ++i) EXPECT_EQ(weights[i], 1.0F);
  EXPECT_NE(weights[0], 1.0F);
}

TEST(AdamW, ANonFiniteNormSkipsTheUpdateAndIsCounted) {
  AdamW adamw = adamw_of(golden_options());
  std::vector<float> weights(kWeights, 1.0F);
  std::vector<float> gradient(kWeights, 1.0F);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    gradient[5] = bad;
    EXPECT_TRUE(update(adamw, 1, gradient, weights).skipped);
  }
  EXPECT_EQ(weights, std::vector<float>(kWeights, 1.0F));
  for (const float m : host(adamw.first_moment())) EXPECT_EQ(m, 0.0F);
  EXPECT_EQ(adamw.skipped(), 2);
  EXPECT_EQ(adamw.updates(), 0);
}

TEST(AdamW, RestoredStateContinuesBitForBit) {
  OptimizerOptions options = golden_options();
  options.schedule = Schedule::kCosine;
  options.schedule_per_step = false;  // the schedule counts the skipped update, too
  options.decay_until = 8;
  AdamW whole = adamw_of(options);
  auto weights = spread(golden::kStartWeights);
  const auto gradient = spread(golden::kGradients);
  for (int u = 0; u < 3; ++u) update(whole, 1, gradient, weights);
  auto broken = gradient;
  broken[0] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_TRUE(update(whole, 1, broken, weights).skipped);
  AdamW resumed = adamw_of(options);
  cpu().copy(whole.first_moment(), resumed.first_moment());
  cpu().copy(whole.second_moment(), resumed.second_moment());
  resumed.restore_counts(whole.updates(), whole.skipped());
  auto other = weights;
  const double rate = update(whole, 1, gradient, weights).learning_rate;
  EXPECT_EQ(update(resumed, 1, gradient, other).learning_rate, rate);
  EXPECT_EQ(weights, other);
  EXPECT_LT(rate, options.learning_rate);
}

TEST(AdamW, RejectsGradientsOfAnotherSize) {
  AdamW adamw = adamw_of({});
  std::vector<float> weights(kWeights - 1);
  EXPECT_THROW(update(adamw, 1, std::vector<float>(kWeights), weights), Error);
}

TEST(AdamW, ShardedUpdatesAreBitIdenticalToUnsharded) {
  const std::vector<float> start = spread(golden::kStartWeights);
  for (const std::int64_t shards : {1, 2, 3, 4}) {
    AdamW whole = adamw_of(golden_options());
    std::vector<float> expected = start, weights = start;
    std::vector<AdamW> sharded;
    for (std::int64_t s = 0; s < shards; ++s) {
      const std::int64_t count = kWeights / shards;
      sharded.emplace_back(golden_options(), cpu(), kLayout, FlatRange{s * count, count});
    }
    for (std::size_t u = 0; u < 6; ++u) {
      const auto gradient = spread(std::span<const double>(golden::kGradients).subspan(u * 20, 20));
      const UpdateOutcome outcome = update(whole, 1, gradient, expected);
      for (AdamW& shard : sharded) {
        const auto part = [&](const std::vector<float>& x) {
          return row_of(x).elements_at(shard.shard().first, shard.shard().count);
        };
        shard.update(1, outcome.grad_norm, part(gradient), part(weights));
      }
    }
    EXPECT_EQ(weights, expected) << shards;
    EXPECT_NE(weights, start);
    for (const AdamW& shard : sharded) {
      const Tensor part =
          whole.second_moment().elements_at(shard.shard().first, shard.shard().count);
      EXPECT_TRUE(std::ranges::equal(host(shard.second_moment()), host(part))) << shards;
    }
  }
}

TEST(Schedule, WarmUpFollowsThePublishedCode) {
  const OptimizerOptions options{.learning_rate = 1.0};
  EXPECT_EQ(learning_rate_at(options, 1), 0.0);
  EXPECT_NEAR(learning_rate_at(options, 5), 0.4, 1e-15);
  EXPECT_EQ(learning_rate_at(options, 11), 1.0);
  EXPECT_EQ(learning_rate_at(options, 1000), 1.0);
  EXPECT_EQ(learning_rate_at({.learning_rate = 1.0, .warmup = 0}, 1), 1.0);
}

TEST(Schedule, CosineDecaysToMinRatio) {
  const OptimizerOptions options{.learning_rate = 1.0,
                                 .schedule = Schedule::kCosine,
                                 .warmup = 4,
                                 .decay_until = 12,
                                 .min_ratio = 0.05};
  for (std::int64_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(learning_rate_at(options, k + 5), golden::kCosine[k], 1e-12) << k;
  }
  EXPECT_THROW(check_options({.schedule = Schedule::kCosine}), Error);
}

TEST(Schedule, LinearDecaysToMinRatio) {
  const OptimizerOptions options{.learning_rate = 1.0,
                                 .schedule = Schedule::kLinear,
                                 .warmup = 4,
                                 .decay_until = 12,
                                 .min_ratio = 0.05};
  EXPECT_EQ(learning_rate_at(options, 3), 0.5);
  for (std::int64_t k = 0; k < 10; ++k) {
    EXPECT_NEAR(learning_rate_at(options, k + 5), golden::kLinear[k], 1e-12) << k;
  }
  EXPECT_THROW(check_options({.schedule = Schedule::kLinear}), Error);
}

TEST(Schedule, CountsTrainingStepsOrUpdates) {
  OptimizerOptions options = golden_options();
  const std::vector<float> gradient(kWeights, 0.1F);
  std::vector<float> weights(kWeights);
  AdamW by_update = adamw_of(options);
  options.schedule_per_step = true;
  AdamW by_step = adamw_of(options);
  for (int u = 0; u < 2; ++u) {
    EXPECT_NEAR(update(by_update, 1, gradient, weights).learning_rate, 0.01 * u / 3, 1e-15);
    EXPECT_EQ(update(by_step, 1, gradient, weights).learning_rate, 0.0);
  }
}

OptimizerOptions bf16_options() {
  return {.learning_rate = 0.01, .max_grad_norm = 0, .warmup = 0, .moments = DType::kBFloat16};
}

std::vector<std::uint16_t> stored(Tensor moment) {
  EXPECT_EQ(moment.dtype, DType::kBFloat16);
  const auto* const data = static_cast<const std::uint16_t*>(moment.data);
  return {data, data + moment.elements()};
}

TEST(AdamW, Bf16MomentsHaveTheBitsOfAnIndependentProgram) {
  constexpr std::int64_t kFirst = golden::kMomentsFirstElement, kCount = golden::kMomentsElements;
  const std::vector<Parameter> layout = {{"matrix", kFirst, 1, kCount, true}};
  AdamW adamw(bf16_options(), cpu(), layout, {kFirst, kCount});
  std::vector<float> weights(std::begin(golden::kMomentsStart), std::end(golden::kMomentsStart));
  const std::span<const float> gradients(golden::kMomentsGradients);
  for (std::size_t u = 0; u < golden::kMomentsUpdates; ++u) {
    const auto row = gradients.subspan(u * kCount, kCount);
    std::vector<float> gradient(row.begin(), row.end());
    adamw.update(1, 1.0, row_of(gradient), row_of(weights));
  }
  EXPECT_TRUE(std::ranges::equal(weights, golden::kMomentsWeights));
  EXPECT_TRUE(std::ranges::equal(stored(adamw.first_moment()), golden::kMomentsFirst));
  EXPECT_TRUE(std::ranges::equal(stored(adamw.second_moment()), golden::kMomentsSecond));
}

TEST(AdamW, Bf16MomentsDoNotDependOnShardsPartsOrThreads) {
  constexpr std::int64_t kMany = 3 * kOptimizerShardBlock + 160;
  const std::vector<Parameter> layout = {{"matrix", 0, 1, kMany, true}};
  std::vector<float> gradient(kMany);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = random_normal({.seed = 5, .index = static_cast<std::uint32_t>(i)});
  }
  AdamW whole(bf16_options(), cpu(), layout, {0, kMany});
  std::vector<float> expected(kMany, 1.0F);
  for (int u = 0; u < 3; ++u) whole.update(1, 1.0, row_of(gradient), row_of(expected));
  const auto operators = make_cpu_operators(3);
  for (const int shards : {1, 2, 3}) {
    std::vector<float> weights(kMany, 1.0F);
    for (int i = 0; i < shards; ++i) {
      const FlatRange shard = optimizer_shard_of(kMany, i, shards);
      AdamW adamw(bf16_options(), *operators, layout, shard);
      for (int u = 0; u < 3; ++u) {
        ASSERT_FALSE(adamw.begin(1, 1.0).skipped);
        for (std::int64_t done = 0; done < shard.count; done += 1000) {
          const FlatRange part = {shard.first + done,
                                  std::min<std::int64_t>(1000, shard.count - done)};
          adamw.apply(part, row_of(gradient).elements_at(part.first, part.count),
                      row_of(weights).elements_at(part.first, part.count));
        }
      }
      const auto all = stored(whole.second_moment());
      EXPECT_TRUE(
          std::ranges::equal(stored(adamw.second_moment()),
                             std::span(all).subspan(static_cast<std::size_t>(shard.first),
                                                    static_cast<std::size_t>(shard.count))));
    }
    EXPECT_TRUE(weights == expected) << shards;
  }
}

TEST(AdamW, MomentsOnTheHostGiveTheBitsOfMomentsOnTheDevice) {
  constexpr std::int64_t kMany = kMovedMoments + 1000;  // two parts
  const std::vector<Parameter> layout = {{"norm", 0, 1, 16, false},
                                         {"matrix", 16, 1, kMany - 16, true}};
  std::vector<float> gradient(kMany);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = std::sin(static_cast<float>(i));
  }
  for (const DType moments : {DType::kFloat32, DType::kBFloat16}) {
    OptimizerOptions options = bf16_options();
    options.moments = moments;
    std::vector<float> weights(kMany, 1.0F);
    AdamW here(options, cpu(), layout, {0, kMany});
    options.moments_on = MomentsOn::kHost;
    test::GuardedOperators device;
    const Buffer there_weights = device.allocate(1, kMany, DType::kFloat32);
    const Buffer there_gradient = device.allocate(1, kMany, DType::kFloat32);
    device.copy_from_host(weights, there_weights.view());
    device.copy_from_host(gradient, there_gradient.view());
    const std::int64_t before = device.traffic().allocated_bytes;
    AdamW there(options, device, layout, {0, kMany});
    EXPECT_EQ(device.traffic().allocated_bytes - before, 2 * kMovedMoments * dtype_bytes(moments));
    for (int u = 0; u < 2; ++u) {
      here.update(1, 1.0, row_of(gradient), row_of(weights));
      there.update(1, 1.0, there_gradient.view(), there_weights.view());
    }
    EXPECT_TRUE(test::to_host(device, there_weights.view()) == weights);
    EXPECT_EQ(there.first_moment().dtype, moments);
    for (const auto moment : {&AdamW::first_moment, &AdamW::second_moment}) {
      EXPECT_TRUE(test::to_host(there.moment_operators(), (there.*moment)()) ==
                  test::to_host(cpu(), (here.*moment)()));
    }
  }
}

TEST(AdamW, OperatorsOfTheHostHoldTheMomentsThemselves) {
  AdamW adamw = adamw_of({.moments_on = MomentsOn::kHost});
  EXPECT_EQ(&adamw.moment_operators(), &cpu());
}

// Rounding to nearest would keep the second moment where it is.
TEST(AdamW, ASecondMomentInBf16DecaysAsInFp32) {
  constexpr std::int64_t kMany = 4096;
  const std::vector<Parameter> layout = {{"matrix", 0, 1, kMany, true}};
  OptimizerOptions options = bf16_options();
  AdamW narrow(options, cpu(), layout, {0, kMany});
  options.moments = DType::kFloat32;
  AdamW wide(options, cpu(), layout, {0, kMany});
  std::vector<float> gradient(kMany, 1.0F), weights(kMany);
  for (int u = 0; u < 300; ++u) {
    if (u == 1) gradient.assign(kMany, 0.0F);
    narrow.update(1, 1.0, row_of(gradient), row_of(weights));
    wide.update(1, 1.0, row_of(gradient), row_of(weights));
  }
  double mean = 0;
  for (const std::uint16_t bits : stored(narrow.second_moment())) {
    mean += double{from_bfloat16(bits)} / kMany;
  }
  const double expected = double{host(wide.second_moment())[0]};
  EXPECT_NEAR(mean / expected, 1, 0.005);
}

}  // namespace
}  // namespace lie
