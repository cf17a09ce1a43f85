// Tests the exact mode: a token's log-prob is bit-identical in decoding and in training, for every
// composition of the batch. The fast operators do not guarantee this, which shows that these tests
// can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "model/cuda/exact_operators.h"
#include "model/transformer/kv_cache.h"
#include "model/transformer/transformer.h"
#include "model/weights/weights.h"
#include "tests/guarded_operators.h"
#include "tests/model/device_sides.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

constexpr float kTemperature = 0.7f;

ModelConfig config() {
  ModelConfig config = test::tiny_config({.width = 64, .layers = 4, .heads = 8});
  config.max_positions = 1024;
  return config;
}

/// Sequences whose rows fill more than one block of a matmul. The first is longer than a split of
/// attention. The log-probs of all next tokens are compared.
PackedBatch long_and_short() {
  PackedBatch batch;
  batch.starts = {0};
  std::uint32_t state = 5;
  for (const std::int32_t length : {700, 41, 16, 2}) {
    for (std::int32_t t = 0; t < length; ++t) {
      state = state * 1664525u + 1013904223u;
      batch.tokens.push_back(static_cast<std::int32_t>((state >> 16) % 40));
      if (t == 0) continue;
      batch.rows.push_back(static_cast<std::int32_t>(batch.tokens.size()) - 2);
      batch.targets.push_back(batch.tokens.back());
    }
    batch.starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

/// Computes the log-probs in the order of batch.rows by decoding. Pass i decodes the next
/// `at_once[i]` tokens of every sequence.
class Decoding {
 public:
  Decoding(const PackedBatch& batch, Transformer& transformer, Operators& operators)
      : batch_(batch),
        transformer_(transformer),
        operators_(operators),
        cache_(config(), operators, 60),
        next_(batch.starts.begin(), batch.starts.end() - 1) {
    for (std::size_t s = 0; s < next_.size(); ++s) open_.push_back(cache_.open());
  }

  std::vector<float> log_probs(const std::vector<std::int32_t>& at_once) {
    for (std::size_t i = 0; pass(at_once[i % at_once.size()]); ++i) {
    }
    return log_probs_;
  }

 private:
  bool pass(std::int32_t at_once) {
    std::vector<DecodeRow> rows;
    std::vector<std::size_t> places;
    std::vector<std::int32_t> targets;
    for (std::size_t s = 0; s < open_.size(); ++s) {
      for (std::int32_t i = 0; i < at_once && next_[s] + 1 < batch_.starts[s + 1]; ++i) {
        const std::int32_t row = next_[s]++;
        rows.push_back({batch_.tokens[static_cast<std::size_t>(row)], open_[s], true});
        const auto place = std::ranges::lower_bound(batch_.rows, row) - batch_.rows.begin();
        places.push_back(static_cast<std::size_t>(place));
        targets.push_back(batch_.targets[places.back()]);
      }
    }
    if (!rows.empty()) score(transformer_.decode(rows, cache_), targets, places);
    return !rows.empty();
  }
  void score(Tensor logits, const std::vector<std::int32_t>& targets,
             const std::vector<std::size_t>& places) {
    const std::int64_t count = logits.rows;
    const Buffer scores = operators_.allocate(1, 3 * count, DType::kFloat32);
    const auto part = [&](std::int64_t i) { return scores.view().cols_at(i * count, count); };
    operators_.log_probs(logits, operators_.upload(targets), kTemperature, part(0), part(1),
                         part(2));
    std::vector<float> host(static_cast<std::size_t>(count));
    operators_.copy_to_host(part(0), host);
    log_probs_.resize(batch_.rows.size());
    for (std::size_t i = 0; i < places.size(); ++i) log_probs_[places[i]] = host[i];
  }

  const PackedBatch& batch_;
  Transformer& transformer_;
  Operators& operators_;
  KvCache cache_;
  std::vector<std::int32_t> next_, open_;
  std::vector<float> log_probs_;
};

/// Returns the number of tokens whose log-probs differ between training and decoding. With
/// `recorded`, emulated lanes pad, capture and replay steps as a device does.
std::int64_t differing(const std::string& device, DType dtype,
                       const std::vector<std::int32_t>& at_once, bool recorded = false) {
  auto operators = test::make_side(device, dtype);
  if (recorded) operators = std::make_unique<test::GuardedOperators>(std::move(operators));
  const Weights weights = test::tiny_weights(config(), *operators);
  Transformer transformer(weights);
  const PackedBatch batch = long_and_short();
  const std::vector<float> trained = transformer.forward(batch, kTemperature, true).log_probs;
  const auto decoded = Decoding(batch, transformer, *operators).log_probs(at_once);
  EXPECT_GE(transformer.cuda_graph_usage().replayed, recorded ? 500 : 0);
  const auto other = [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b);
  };
  return std::transform_reduce(trained.begin(), trained.end(), decoded.begin(), std::int64_t{0},
                               std::plus(), other);
}

class ExactMode : public testing::TestWithParam<std::tuple<std::string, DType>> {};

std::vector<std::string> devices_of_kernels() {
  std::vector<std::string> sides = test::device_sides();
  std::erase_if(sides, [](const std::string& side) { return side == "cpu"; });
  return sides;
}

INSTANTIATE_TEST_SUITE_P(Devices, ExactMode,
                         testing::Combine(testing::ValuesIn(devices_of_kernels()),
                                          testing::Values(DType::kFloat32, DType::kBFloat16)),
                         [](const auto& test) {
                           const bool wide = std::get<1>(test.param) == DType::kFloat32;
                           return std::get<0>(test.param) + (wide ? "_fp32" : "_bf16");
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExactMode);

TEST_P(ExactMode, LogProbsAreBitIdenticalInDecodingAndTraining) {
  const auto& [device, dtype] = GetParam();
  for (const std::vector<std::int32_t>& at_once :
       {std::vector<std::int32_t>{1}, {699}, {300, 1, 7, 1, 130}}) {
    const std::int64_t count = differing(device, dtype, at_once);
    if (test::is_exact(device)) {
      EXPECT_EQ(count, 0) << "first pass of " << at_once.front();
    } else {
      EXPECT_GT(count, 0) << "the fast operators already agree, so these tests prove nothing";
    }
  }
}

TEST_P(ExactMode, LogProbsAreBitIdenticalInReplayedSteps) {
  const auto& [device, dtype] = GetParam();
  if (!device.starts_with("emulated")) GTEST_SKIP() << "a device captures CUDA graphs itself";
  const std::int64_t count = differing(device, dtype, {1}, true);
  if (test::is_exact(device)) {
    EXPECT_EQ(count, 0);
  } else {
    EXPECT_GT(count, 0);
  }
}

/// Counts the matmuls that the exact operators pass to their base class, here the CPU's. Checks the
/// shape, the strides and the alignment of each, because cuBLAS chooses the order of sums by them.
class CountingOperators : public test::GuardedOperators {
 public:
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    note(x, y);
    GuardedOperators::linear(x, w, y);
  }
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override {
    note(x, y);
    EXPECT_EQ(residual.data, y.data);
    GuardedOperators::linear_add(x, w, residual, y);
  }
  std::int64_t matmuls = 0;

 protected:
  void attend_rows(Tensor, const AttentionShape&, const DecodeBatch&, KvPages, Tensor, Tensor) {}

 private:
  void note(Tensor x, Tensor y) {
    ++matmuls;
    for (const Tensor& side : {x, y}) {
      EXPECT_EQ(side.rows, 256);
      EXPECT_EQ(side.stride, side.cols);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(side.data) % 64, 0u);
    }
  }
};

Buffer filled(Operators& operators, const char* name, std::int64_t rows, std::int64_t cols) {
  Buffer buffer = operators.allocate(rows, cols, DType::kFloat32);
  operators.copy_from_host(test::float_values(name, static_cast<std::size_t>(rows * cols)),
                           buffer.view());
  return buffer;
}

TEST(ExactMatmuls, HaveAFixedNumberOfRows) {
  constexpr std::int64_t kIn = 40, kOut = 24;
  cuda::ExactOperators<CountingOperators> exact;
  const auto plain = make_cpu_operators(1);
  for (const std::int64_t rows : {1, 255, 256, 257, 600}) {
    // The tensors are columns of wider tensors, as q, k and v are.
    const auto run_matmuls = [&](Operators& operators) {
      const auto w = operators.make_weight(kOut, kIn);
      operators.pack(*w, 0, filled(operators, "w", kOut, kIn).view());
      const Buffer x = filled(operators, "x", rows, kIn + 8);
      const Buffer y = filled(operators, "y", rows, 2 * kOut);
      const Tensor left = y.view().cols_at(0, kOut), right = y.view().cols_at(kOut, kOut);
      operators.linear(x.view().cols_at(8, kIn), *w, left);
      operators.linear_add(x.view().cols_at(0, kIn), *w, left, right);
      operators.linear_add(x.view().cols_at(0, kIn), *w, right, right);
      std::vector<float> host(static_cast<std::size_t>(y.view().elements()));
      operators.copy_to_host(y.view(), host);
      return host;
    };
    exact.matmuls = 0;
    EXPECT_EQ(run_matmuls(exact), run_matmuls(*plain)) << rows << " rows";
    EXPECT_EQ(exact.matmuls, 3 * ((rows + 255) / 256));
  }
}

}  // namespace
}  // namespace lie
