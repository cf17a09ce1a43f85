// Runs the kernels with a thread per lane under the thread sanitizer (see launch.h in this folder),
// compares them with the CPU operators bit for bit, and leaves out each barrier in turn. The first
// race that the sanitizer reports ends the program. On emulated lanes the row functions work
// without barriers, so only this test can detect a missing one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "model/cuda/kernels/kernels.h"
#include "model/cuda/kernels/launch.h"
#include "model/operators/prefill.h"
#include "tests/directories.h"
#include "tests/model/operator_side.h"
#include "tests/model/transformer_golden.h"

extern "C" const char* __tsan_default_options() { return "halt_on_error=1:exitcode=66"; }

namespace lie {
namespace {

using test::Results;

/// Computes with the CPU operators or with the kernels.
class Program {
 public:
  explicit Program(bool kernels) : kernels_(kernels) {}

  /// Computes with the row functions of one header, named from model/cuda/kernels on.
  void run(const std::string& header) {
    if (header.starts_with("/rows/")) {
      norms();
      heads();
    } else if (header == "/decode_attention.h") {
      attention();
    } else if (header == "/few_rows.h") {
      few_rows();
    } else {
      head();
    }
  }
  Results results() {
    for (const char* header : {"/rows/", "/decode_attention.h", "/head/"}) run(header);
    return std::move(results_);
  }

 private:
  template <typename... Parameters, typename Kernel>
  void call(void (Operators::*method)(Parameters...), const Kernel& kernel,
            std::type_identity_t<Parameters>... arguments) {
    kernels_ ? kernel(cuda::Queue{}, arguments...) : (s_.operators().*method)(arguments...);
  }
  void keep(const std::string& name, Tensor x) { results_[name] = s_.get(x); }

  void norms() {
    constexpr std::int64_t kRows = 3, kWidth = 70;
    const Tensor x = s_.put("x", kRows, kWidth), weight = s_.parameter("weight", 1, kWidth),
                 y = s_.output(kRows, kWidth), inverse_rms = s_.float_output(1, kRows),
                 dx = s_.put("dx", kRows, kWidth), dw = s_.put("dw", 1, kWidth);
    call(&Operators::rms_norm, cuda::rms_norm, x, weight, 1e-6f, y, inverse_rms);
    const auto backward = [](auto... arguments) { cuda::rms_norm_backward(arguments..., nullptr); };
    call(&Operators::rms_norm_backward, backward, y, x, weight, inverse_rms, dx, dw);
    for (const auto& [name, tensor] : {std::pair{"y", y}, {"dx", dx}, {"dw", dw}}) {
      keep(name, tensor);
    }
  }

  void heads() {
    constexpr AttentionShape kShape{2, 1, 48};
    constexpr std::int64_t kRows = 3;
    const QkNormRope how{kShape,
                         s_.parameter("q_norm", 1, kShape.head_width),
                         s_.parameter("k_norm", 1, kShape.head_width),
                         1e-6f,
                         s_.parameter("rope", 4, kShape.head_width),
                         s_.indices({3, 0, 2})};
    const std::int64_t cols = kShape.q_cols() + kShape.kv_cols();
    const Tensor qkv = s_.put("qkv", kRows, kShape.qkv_cols()),
                 d_rotated = s_.put("d_rotated", kRows, cols),
                 d_qkv = s_.put("d_qkv", kRows, kShape.qkv_cols()),
                 dq = s_.put("dq", 1, kShape.head_width), dk = s_.put("dk", 1, kShape.head_width);
    const Tensor rotated = s_.output(kRows, cols);
    call(&Operators::qk_norm_rope, cuda::qk_norm_rope, qkv, how, rotated);
    keep("rotated", rotated);
    const auto kernel = [](const auto&... arguments) {
      cuda::qk_norm_rope_backward(arguments..., nullptr);
    };
    call(&Operators::qk_norm_rope_backward, kernel, d_rotated, qkv, how, d_qkv, dq, dk);
    for (const auto& [name, tensor] : {std::pair{"d_qkv", d_qkv}, {"dq", dq}, {"dk", dk}}) {
      keep(name, tensor);
    }
  }

  /// One sequence of 300 positions, which are two splits. Two rows alone, then the last rows as
  /// prefill, which share reads.
  void attention() {
    constexpr AttentionShape kShape{2, 1, 16};
    constexpr std::int32_t kLength = 300, kPages = 19;
    std::vector<std::int32_t> all(kLength), table(kPages);
    std::iota(all.begin(), all.end(), 0);
    std::iota(table.begin(), table.end(), 0);
    const std::int64_t cols = kShape.q_cols() + kShape.kv_cols();
    const Tensor pool = s_.put("pool", kPages, 2 * Operators::kPageTokens * kShape.kv_cols()),
                 rotated = s_.put("rotated", kLength, cols),
                 qkv = s_.put("values", kLength, kShape.qkv_cols()),
                 y = s_.output(2, kShape.q_cols());
    DecodeBatch batch{{}, s_.indices(all), {}, s_.indices(table), kPages, kLength};
    call(&Operators::store_kv, cuda::store_kv, rotated, qkv, kShape, batch, {pool, 0});
    batch.positions = s_.indices({kLength - 1, 40});
    batch.sequences = s_.indices({0, 0});
    std::vector<float> scratch(
        static_cast<std::size_t>(2 * cuda::attention_decode_scratch(kShape, kLength)));
    const auto kernel = [&](const cuda::Queue& queue, Tensor queries, const AttentionShape& shape,
                            const DecodeBatch& rows, KvPages pages, Tensor to) {
      cuda::attention_decode(queue, queries, shape, rows, pages, scratch.data(), to, {});
    };
    call(&Operators::attention_decode, kernel, rotated.rows_at(0, 2), kShape, batch, {pool, 0}, y);
    keep("attended", y);

    const std::span<const std::int32_t> positions = std::span(all).last(kPrefillRows);
    const std::vector<std::int32_t> sequence(kPrefillRows, 0);
    const Tensor prefilled = s_.output(kPrefillRows, kShape.q_cols());
    batch.positions = s_.indices({positions.begin(), positions.end()});
    batch.sequences = s_.indices(sequence);
    batch.host_positions = positions;
    batch.host_sequences = sequence;
    scratch.resize(
        static_cast<std::size_t>(kPrefillRows * cuda::attention_decode_scratch(kShape, kLength)));
    call(&Operators::attention_decode, kernel, rotated.rows_at(0, kPrefillRows), kShape, batch,
         {pool, 0}, prefilled);
    keep("prefilled", prefilled);
  }

  /// Operators of the CPU have no such matmul, so that only its barrier is tested here.
  static void few_rows() {
    constexpr std::int64_t kRows = 9, kIn = 288, kOut = 32;
    std::vector<std::uint16_t> x(kRows * kIn, 0x3f80), weight(kOut * kIn, 0x3f80);
    std::vector<float> y(kRows * kOut);
    cuda::matmul_few_rows({}, {x.data(), kRows, kIn, kIn, DType::kBFloat16},
                          {weight.data(), kOut, kIn, kIn, DType::kBFloat16}, {},
                          {y.data(), kRows, kOut, kOut, DType::kFloat32});
    EXPECT_EQ(y, std::vector<float>(y.size(), kIn));
  }

  /// 2100 tokens are two parts, and flat, so that top_p keeps more than one window of tokens.
  void head() {
    constexpr std::int64_t kVocabulary = 2100;
    const Tensor logits = s_.put_floats("logits", 2, kVocabulary, 1.0),
                 log_probs = s_.float_output(1, 2), entropies = s_.float_output(1, 2),
                 log_sum = s_.float_output(1, 2);
    const auto scratch_of = [](std::int64_t floats) {
      return std::vector<float>(static_cast<std::size_t>(floats));
    };
    std::vector<float> scratch = scratch_of(2 * cuda::log_probs_scratch(kVocabulary));
    const auto kernel = [&](const cuda::Queue& queue, Tensor x, Indices targets, float temperature,
                            auto... results) {
      cuda::log_probs(queue, x, targets, temperature, scratch.data(), results...);
    };
    call(&Operators::log_probs, kernel, logits, s_.indices({7, 2099}), 0.7f, log_probs, entropies,
         log_sum);
    keep("log_probs", log_probs);
    keep("entropies", entropies);
    const std::vector<Draw> draws = {
        {.temperature = 0}, {.row = 1}, {.top_p = 0.9}, {.row = 1, .top_p = 0.9, .top_k = 50}};
    const auto count = std::ssize(draws);
    std::vector<std::int32_t> ids(draws.size());
    const Tensor of_draws = s_.float_output(1, count);
    std::vector<float> draw_scratch = scratch_of(count * cuda::sample_scratch(kVocabulary));
    const auto sample = [&](const cuda::Queue& queue, Tensor x, std::span<const Draw> all,
                            const DrawnTokens& drawn) {
      cuda::sample(queue, x, all, draw_scratch.data(), drawn);
    };
    call(&Operators::sample, sample, logits, draws,
         {Tensor{ids.data(), 1, count, count, DType::kInt32}, of_draws});
    results_["ids"].assign(ids.begin(), ids.end());
    keep("log_probs of draws", of_draws);
  }

  bool kernels_;
  test::Side s_{make_cpu_operators(1), 0};
  Results results_;
};

/// The lines of the kernels' sources that call a barrier.
std::vector<cuda::LeftOut> barriers() {
  std::vector<cuda::LeftOut> found;
  const auto folder = std::filesystem::path(source_directory()) / "model/cuda/kernels";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    const std::string name = "/" + entry.path().lexically_relative(folder).string();
    std::ifstream file(entry.path());
    std::string text;
    for (unsigned line = 1; std::getline(file, text); ++line) {
      if (text.find(".sync();") != std::string::npos) found.push_back({name, line});
    }
  }
  return found;
}

TEST(KernelThreads, AreBitIdenticalToTheCpuWithoutARace) {
  Results kernels = Program(true).results(), cpu = Program(false).results();
  // Attention over pages adds in another order than the CPU does.
  for (const char* attended : {"attended", "prefilled"}) {
    EXPECT_LT(test::relative_error(kernels.at(attended), cpu.at(attended)), 1e-6);
    kernels.erase(attended);
    cpu.erase(attended);
  }
  EXPECT_EQ(kernels, cpu);
  Program(true).run("/few_rows.h");
}

TEST(KernelThreads, WithoutAnyOneBarrierThereIsARace) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::vector<cuda::LeftOut> all = barriers();
  EXPECT_GE(all.size(), 23U);
  for (const cuda::LeftOut& barrier : all) {
    EXPECT_EXIT(
        {
          cuda::left_out = barrier;
          Program(true).run(barrier.file);
          std::exit(0);
        },
        testing::ExitedWithCode(66), "data race")
        << barrier.file << ":" << barrier.line;
  }
}

}  // namespace
}  // namespace lie
