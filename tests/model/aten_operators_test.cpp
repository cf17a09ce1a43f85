// Compares each operator of LibTorch and of model/cuda with the CPU operators, in fp32.
#include "model/cuda/operators.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "common/base/error.h"
#include "model/aten/deterministic.h"
#include "model/aten/head_groups.h"
#include "tests/aten/make_reference_operators.h"
#include "tests/model/device_sides.h"
#include "tests/model/operator_side.h"
#include "tests/model/transformer_golden.h"

namespace lie {
namespace {

using test::Results, test::Side;

// Bounds of errors relative to the largest value. Sums have up to 100 terms of like size and random
// sign. Each rounding is 2^-24 of the sum so far, so the error is below sqrt(100) * 2^-24 * 2 =
// 1.2e-6.
constexpr double kOneSum = 2e-6;
// The bound for several sums, a softmax and differences of their results in sequence.
constexpr double kChain = 1e-5;

class AtenOperators : public testing::TestWithParam<std::string> {
 protected:
  /// Runs `compute(Side&) -> Results` on both sides, with contiguous and with padded rows.
  template <typename Compute>
  void expect_same(double bound, const Compute& compute) {
    for (const std::int64_t padding : {0, 3, 16}) {
      Side own(make_cpu_operators(2), padding);
      Side aten(test::make_side(GetParam()), padding);
      const Results expected = compute(own), got = compute(aten);
      for (const auto& [name, values] : expected) {
        EXPECT_LT(test::relative_error(got.at(name), values), bound)
            << name << ", padding " << padding;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, AtenOperators, testing::ValuesIn(test::device_sides()),
                         [](const auto& test) { return test.param; });

constexpr std::int64_t kRowCounts[] = {1, 7, 33};

TEST_P(AtenOperators, MatmulsAgree) {
  for (const std::int64_t rows : kRowCounts) {
    expect_same(kOneSum, [&](Side& s) {
      const Tensor x = s.put("x", rows, 24), y = s.output(rows, 45), sum = s.output(rows, 45);
      const Tensor in_place = s.put("residual", rows, 45);
      PackedWeight& w = s.weight("w", 45, 24);
      s->linear(x, w, y);
      s->linear_add(x, w, s.put("residual", rows, 45), sum);
      s->linear_add(x, w, in_place, in_place);
      return Results{{"linear", s.get(y)}, {"add", s.get(sum)}, {"in place", s.get(in_place)}};
    });
  }
}

TEST_P(AtenOperators, MatmulGradientsAgreeAndWeightGradientsAccumulate) {
  for (const std::int64_t rows : kRowCounts) {
    expect_same(kOneSum, [&](Side& s) {
      const Tensor dy = s.put("dy", rows, 45), dx = s.output(rows, 24);
      const Tensor dw = s.put_floats("dw", 45, 24, 30);
      s->linear_backward_input(dy, s.weight("w", 45, 24), dx);
      s->linear_backward_weight(dy, s.put("x", rows, 24), {}, dw);
      const Tensor sum = s.put("sum", rows, 24);
      s->linear_backward_input_add(dy, s.weight("w", 45, 24), sum);
      return Results{{"dx", s.get(dx)}, {"dw", s.get(dw)}, {"added", s.get(sum)}};
    });
  }
}

TEST_P(AtenOperators, MatmulsWithWeightsInNf4Agree) {
  if (GetParam() == "cpu") GTEST_SKIP() << "plain ATen has no NF4";
  for (const std::int64_t rows : kRowCounts) {
    expect_same(kOneSum, [&](Side& s) {
      const Tensor x = s.put("x", rows, 24), y = s.output(rows, 48);
      const Tensor residual = s.put("residual", rows, 48);
      PackedWeight& w = s.weight("w", 48, 24, WeightUse::kNf4);
      PackedWeight& larger = s.weight("larger", 72, 24, WeightUse::kNf4);
      const Tensor of_larger = s.output(rows, 72), dx = s.output(rows, 24);
      s->linear(x, w, y);
      s->linear(x, larger, of_larger);
      s->linear_add(x, w, residual, residual);
      const Tensor sum = s.put("sum", rows, 24);
      s->linear_backward_input(s.put("dy", rows, 48), w, dx);
      s->linear_backward_input_add(s.put("d_larger", rows, 72), larger, sum);
      return Results{{"linear", s.get(y)},
                     {"larger", s.get(of_larger)},
                     {"add", s.get(residual)},
                     {"dx", s.get(dx)},
                     {"added", s.get(sum)}};
    });
  }
}

TEST_P(AtenOperators, CopiesAreBitIdentical) {
  expect_same(1e-30, [](Side& s) {
    const Tensor x = s.put("x", 5, 11), y = s.output(5, 11), zeroed = s.put("x", 5, 11);
    s->copy(x, y);
    s->zero(zeroed.rows_at(1, 2));
    const Tensor gradient = s.parameter("gradient", 1, 37);
    s->zero(gradient.cols_at(3, 5));
    return Results{{"copy", s.get(y)}, {"zero", s.get(zeroed)}, {"gradient", s.get(gradient)}};
  });
}

TEST_P(AtenOperators, ScalingIsBitIdenticalAndLeavesOtherColumns) {
  expect_same(1e-30, [](Side& s) {
    const Tensor x = s.put("x", 5, 11);
    s->scale(x.cols_at(2, 6), 0.75f);
    return Results{{"scaled", s.get(x)}};
  });
}

TEST_P(AtenOperators, EmbeddingGatherAndScatterAgree) {
  expect_same(kOneSum, [](Side& s) {
    const Indices tokens = s.indices({3, 0, 44, 3, 3, 17, 0});
    const Tensor y = s.output(7, 24), dtable = s.put_floats("dtable", 45, 24);
    const Tensor from_packed = s.output(7, 24);
    const auto packed = s->make_weight(45, 24);
    s->pack(*packed, 0, s.parameter("table", 45, 24));
    s->embed(*packed, tokens, from_packed);
    s->embed(s.parameter("table", 45, 24), tokens, y);
    s->embed_backward(s.put("dy", 7, 24), tokens, dtable);
    const Indices some = s.indices({1, 4, 5});
    const Tensor gathered = s.output(3, 24), scattered = s.output(7, 24);
    s->gather_rows(y, some, gathered);
    s->scatter_rows(gathered, some, scattered);
    return Results{{"embed", s.get(y)},
                   {"embed_packed", s.get(from_packed)},
                   {"embed_backward", s.get(dtable)},
                   {"gather", s.get(gathered)},
                   {"scatter", s.get(scattered)}};
  });
}

TEST_P(AtenOperators, RmsNormAgreesAndItsGradientsAccumulate) {
  for (const std::int64_t rows : kRowCounts) {
    expect_same(kChain, [&](Side& s) {
      const Tensor x = s.put("x", rows, 40), weight = s.parameter("weight", 1, 40);
      const Tensor y = s.output(rows, 40), unkept = s.output(rows, 40);
      const Tensor inverse_rms = s.float_output(1, rows);
      s->rms_norm(x, weight, 1e-6f, y, inverse_rms);
      s->rms_norm(x, weight, 1e-6f, unkept, {});
      const Tensor dx = s.put("dx", rows, 40), dweight = s.put_floats("dweight", 1, 40);
      s->rms_norm_backward(s.put("dy", rows, 40), x, weight, inverse_rms, dx, dweight);
      return Results{{"y", s.get(y)},
                     {"unkept", s.get(unkept)},
                     {"inverse_rms", s.get(inverse_rms)},
                     {"dx", s.get(dx)},
                     {"dweight", s.get(dweight)}};
    });
  }
}

AdamWStep some_step() {
  return {.clip = 0.75f,
          .keep = 0.99f,
          .beta1 = 0.9f,
          .one_minus_beta1 = 0.1f,
          .beta2 = 0.95f,
          .one_minus_beta2 = 0.05f,
          .step_size = 0.01f,
          .root_correction = 0.3f,
          .eps = 1e-6f};
}

TEST_P(AtenOperators, SumsOfSquaresAndAdamWAgree) {
  expect_same(kOneSum, [](Side& s) {
    const AdamWTensors x{s.parameter("g", 1, 1003), s.parameter("w", 1, 1003),
                         s.parameter("m", 1, 1003), s.parameter("v", 1, 1003)};
    s->zero(x.second);  // squares are not negative
    for (int step = 0; step < 3; ++step) s->adamw(some_step(), x);
    std::vector<double> sums(3);
    s->sums_of_squares(x.gradient, 400, sums);
    s->add(x.gradient, x.first);
    return Results{{"norm", {sums.begin(), sums.end()}},
                   {"gradient", s.get(x.gradient)},
                   {"weights", s.get(x.weights)},
                   {"first", s.get(x.first)},
                   {"second", s.get(x.second)}};
  });
}

TEST_P(AtenOperators, SwigluAgrees) {
  for (const std::int64_t rows : kRowCounts) {
    expect_same(kChain, [&](Side& s) {
      const Tensor gate_up = s.put("gate_up", rows, 2 * 19, 20);
      const Tensor y = s.output(rows, 19), again = s.output(rows, 19);
      const Tensor d_gate_up = s.output(rows, 2 * 19);
      s->swiglu(gate_up, y);
      s->swiglu_backward(s.put("dy", rows, 19), gate_up, d_gate_up, again);
      return Results{{"y", s.get(y)}, {"again", s.get(again)}, {"d_gate_up", s.get(d_gate_up)}};
    });
  }
}

constexpr AttentionShape kShapes[] = {{4, 2, 16}, {3, 1, 32}, {2, 2, 48}};

TEST_P(AtenOperators, QkNormAndRopeAgreeAndTheirGradientsAccumulate) {
  for (const AttentionShape& shape : kShapes) {
    for (const bool norm : {true, false}) {
      expect_same(kChain, [&](Side& s) {
        const std::int64_t rows = 9, width = shape.head_width;
        QkNormRope how{shape, {}, {}, 1e-6f, s.parameter("rope", 20, width), {}};
        how.positions = s.indices({0, 1, 2, 19, 0, 5, 5, 6, 7});
        const Tensor dq = s.put_floats("dq", 1, width), dk = s.put_floats("dk", 1, width);
        if (norm) how.q_norm = s.parameter("q", 1, width), how.k_norm = s.parameter("k", 1, width);
        const Tensor qkv = s.put("qkv", rows, shape.qkv_cols());
        const std::int64_t rotated_cols = shape.q_cols() + shape.kv_cols();
        const Tensor rotated = s.output(rows, rotated_cols),
                     d_qkv = s.output(rows, shape.qkv_cols());
        s->qk_norm_rope(qkv, how, rotated);
        s->qk_norm_rope_backward(s.put("d_rotated", rows, rotated_cols), qkv, how, d_qkv,
                                 norm ? dq : Tensor(), norm ? dk : Tensor());
        return Results{{"rotated", s.get(rotated)},
                       {"d_qkv", s.get(d_qkv.cols_at(0, rotated_cols))},
                       {"dq_norm", s.get(dq)},
                       {"dk_norm", s.get(dk)}};
      });
    }
  }
}

Results packed_attention(Side& s, const AttentionShape& shape,
                         const std::vector<std::int32_t>& starts) {
  const std::int64_t rows = starts.back();
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    longest = std::max<std::int64_t>(longest, starts[i] - starts[i - 1]);
  }
  const PackedSequences sequences{starts, s.indices(starts), longest};
  const Tensor rotated = s.put("rotated", rows, shape.q_cols() + shape.kv_cols());
  const Tensor qkv = s.put("qkv", rows, shape.qkv_cols());
  const Tensor y = s.output(rows, shape.q_cols()), unkept = s.output(rows, shape.q_cols());
  const Tensor log_sum = s.float_output(rows, shape.heads);
  s->attention(rotated, qkv, shape, sequences, y, log_sum);
  s->attention(rotated, qkv, shape, sequences, unkept, {});
  const Tensor d_rotated = s.output(rows, rotated.cols), d_qkv = s.output(rows, qkv.cols);
  s->attention_backward(s.put("dy", rows, shape.q_cols()), rotated, qkv, y, log_sum, shape,
                        sequences, d_rotated, d_qkv);
  return {{"y", s.get(y)},
          {"unkept", s.get(unkept)},
          {"log_sum", s.get(log_sum)},
          {"d_rotated", s.get(d_rotated)},
          {"d_values", s.get(d_qkv.cols_at(shape.q_cols() + shape.kv_cols(), shape.kv_cols()))}};
}

TEST_P(AtenOperators, AttentionOverPackedSequencesAgrees) {
  for (const AttentionShape& shape : kShapes) {
    for (const std::vector<std::int32_t>& starts :
         {std::vector<std::int32_t>{0, 5, 6, 39, 56}, {0, 16, 33, 34}}) {
      expect_same(kChain, [&](Side& s) { return packed_attention(s, shape, starts); });
    }
  }
}

TEST_P(AtenOperators, ASingleTokenAttendsToItselfAndItsScoreHasNoGradient) {
  for (const AttentionShape& shape : kShapes) {
    Side own(make_cpu_operators(2), 3), aten(test::make_side(GetParam()), 3);
    const Results expected = packed_attention(own, shape, {0, 1});
    const Results got = packed_attention(aten, shape, {0, 1});
    for (const char* name : {"y", "log_sum", "d_values"}) {
      EXPECT_LT(test::relative_error(got.at(name), expected.at(name)), kChain) << name;
    }
    // The difference of two equal sums of E terms below 4, times a key or query below 2.
    const double bound = static_cast<double>(shape.head_width) * 4 * 2 * 0x1p-23;
    for (const float x : got.at("d_rotated")) EXPECT_LT(std::abs(x), bound);
  }
}

TEST_P(AtenOperators, ALongSequenceProcessedInSlicesAgrees) {
  Side own(make_cpu_operators(2), 0), aten(test::make_side(GetParam()), 0);
  const std::vector<std::int32_t> starts{0, 3001, 3010};
  const Results expected = packed_attention(own, {4, 2, 16}, starts);
  const Results got = packed_attention(aten, {4, 2, 16}, starts);
  for (const auto& [name, values] : expected) {
    // Sums of up to 3001 terms have sqrt(3001) roundings of 2^-24 each, and several sums follow
    // each other.
    EXPECT_LT(test::relative_error(got.at(name), values), 3e-5) << name;
  }
}

/// Five sequences of given lengths in a shuffled pool. All rows are stored first, then the last
/// rows of each are decoded in one call.
struct PagedCase {
  std::vector<std::int32_t> lengths{1, 15, 16, 17, 40};
  std::int64_t layers = 3, pages = 24, table_width = 3;
  std::vector<std::int32_t> table, positions, slots, sequences;
  std::vector<std::int32_t> last;  // decoded rows: the last three positions of each sequence

  PagedCase() {
    for (std::size_t q = 0; q < lengths.size(); ++q) {
      for (std::int32_t p = 0; p < table_width; ++p) {
        table.push_back(
            static_cast<std::int32_t>((7 * (q * 3 + static_cast<std::size_t>(p)) + 5) % 24));
      }
      for (std::int32_t t = 0; t < lengths[q]; ++t) {
        if (t + 3 >= lengths[q]) last.push_back(static_cast<std::int32_t>(positions.size()));
        positions.push_back(t);
        sequences.push_back(static_cast<std::int32_t>(q));
        slots.push_back(table[q * 3 + static_cast<std::size_t>(t / 16)] * 16 + t % 16);
      }
    }
  }
  std::vector<std::int32_t> of_last(const std::vector<std::int32_t>& all) const {
    std::vector<std::int32_t> some;
    for (const std::int32_t row : last) some.push_back(all[static_cast<std::size_t>(row)]);
    return some;
  }
};

/// `stale` is the previous content of the pool's slots.
std::vector<float> decode_pages(Side& s, const AttentionShape& shape, float stale) {
  const PagedCase c;
  const Buffer pool = s->allocate(c.pages, c.layers * 2 * Operators::kPageTokens * shape.kv_cols(),
                                  s->activation_dtype());
  s->copy_from_host(std::vector<float>(static_cast<std::size_t>(pool.view().elements()), stale),
                    pool.view());
  const auto rows = static_cast<std::int64_t>(c.positions.size());
  const Tensor rotated = s.put("rotated", rows, shape.q_cols() + shape.kv_cols());
  DecodeBatch batch{s.indices(c.positions), s.indices(c.slots), s.indices(c.sequences),
                    s.indices(c.table),     c.table_width,      40};
  for (std::int64_t layer = 0; layer < c.layers; ++layer) {
    s->store_kv(rotated, s.put("qkv" + std::to_string(layer), rows, shape.qkv_cols()), shape, batch,
                {pool.view(), layer});
  }
  const auto count = static_cast<std::int64_t>(c.last.size());
  const Tensor queries = s.output(count, rotated.cols), y = s.output(count, shape.q_cols());
  s->gather_rows(rotated, s.indices(c.last), queries);
  batch.positions = s.indices(c.of_last(c.positions));
  batch.sequences = s.indices(c.of_last(c.sequences));
  s->attention_decode(queries, shape, batch, {pool.view(), 1}, y);
  return s.get(y);
}

TEST_P(AtenOperators, DecodingOverPagesAgrees) {
  for (const AttentionShape& shape : kShapes) {
    expect_same(kChain, [&](Side& s) { return Results{{"y", decode_pages(s, shape, 0)}}; });
  }
}

TEST_P(AtenOperators, DecodingIgnoresSlotsPastTheEndOfASequence) {
  Side clean(test::make_side(GetParam()), 0);
  Side stale(test::make_side(GetParam()), 0);
  EXPECT_EQ(decode_pages(clean, kShapes[0], 0), decode_pages(stale, kShapes[0], NAN));
}

TEST_P(AtenOperators, DecodingManyRowsOfALongSequenceInPartsAgrees) {
  const AttentionShape shape{2, 2, 64};
  const std::int32_t length = 2050, rows = 200;  // 200 * 2064 * 128 elements of keys
  const auto compute = [&](Side& s) {
    std::vector<std::int32_t> table, positions, sequences(rows, 0);
    for (std::int32_t p = 0; p < 129; ++p) table.push_back(128 - p);
    for (std::int32_t r = 0; r < rows; ++r) positions.push_back(length - rows + r);
    const std::int64_t elements = 2 * Operators::kPageTokens * shape.kv_cols();
    const Buffer pool = s->allocate(129, elements, DType::kFloat32);
    std::vector<std::int32_t> slots, all;
    for (std::int32_t t = 0; t < length; ++t) {
      slots.push_back(table[static_cast<std::size_t>(t / 16)] * 16 + t % 16);
      all.push_back(t);
    }
    DecodeBatch batch{s.indices(all),
                      s.indices(slots),
                      s.indices(std::vector<std::int32_t>(length, 0)),
                      s.indices(table),
                      129,
                      length};
    s->store_kv(s.put("rotated", length, 256), s.put("qkv", length, 384), shape, batch,
                {pool.view(), 0});
    batch.positions = s.indices(positions);
    batch.sequences = s.indices(sequences);
    const Tensor y = s.output(rows, shape.q_cols());
    s->attention_decode(s.put("queries", rows, 256), shape, batch, {pool.view(), 0}, y);
    return s.get(y);
  };
  Side own(make_cpu_operators(2), 0), aten(test::make_side(GetParam()), 0);
  EXPECT_LT(test::relative_error(compute(aten), compute(own)), kChain);
}

/// On 132 multiprocessors, as an H100 has. A long sequence of 16 heads is divided, because 144
/// blocks would take two rounds.
TEST(FlashAttentionBackward, DividesHeadsWhereBlocksWouldWait) {
  const auto groups = [](std::int64_t heads, std::int64_t sequences, std::int64_t longest) {
    return aten::backward_head_groups({heads, 8, 128}, sequences, longest, 132);
  };
  using Groups = std::vector<std::int64_t>;
  EXPECT_EQ(groups(16, 1, 16384), (Groups{12, 4}));
  EXPECT_EQ(groups(32, 1, 16384), (Groups{12, 12, 4, 4}));
  EXPECT_EQ(groups(16, 4, 4096), Groups{16});
  EXPECT_EQ(groups(16, 32, 512), Groups{16});
}

TEST_P(AtenOperators, LogProbsAndTheirGradientAgree) {
  for (const float temperature : {1.0f, 0.7f}) {
    expect_same(kChain, [&](Side& s) {
      const std::int64_t rows = 7, vocabulary = 45;
      const Tensor logits = s.put_floats("logits", rows, vocabulary, 20);
      const Indices targets = s.indices({0, 44, 3, 3, 17, 20, 1});
      const Tensor log_probs = s.float_output(1, rows), entropies = s.float_output(1, rows);
      const Tensor log_sum = s.float_output(1, rows);
      s->log_probs(logits, targets, temperature, log_probs, entropies, log_sum);
      s->log_probs_backward(logits, targets, temperature, entropies, log_sum,
                            s.put_floats("d_log_probs", 1, rows),
                            s.put_floats("d_entropies", 1, rows));
      return Results{{"log_probs", s.get(log_probs)},
                     {"entropies", s.get(entropies)},
                     {"log_sum", s.get(log_sum)},
                     {"d_logits", s.get(logits)}};
    });
  }
}

// A process that runs all roles has two computing threads.
TEST(AtenDeterminism, OnlyOneThreadEnablesItAtATime) {
  std::atomic<bool> entered = false, left = false;
  std::jthread other;
  {
    const aten::Deterministic on;
    other = std::jthread([&] {
      const aten::Deterministic too;
      entered = true;
      left.wait(false);  // so that this object is destroyed after `on`
    });
    for (int i = 0; i < 100'000 && !entered; ++i) std::this_thread::yield();
    EXPECT_FALSE(entered);
  }
  left = true;
  left.notify_one();
  other.join();
  EXPECT_FALSE(aten::is_deterministic());
}

TEST(AtenDeterminism, SamplingWorksWhileALearnerComputesGradients) {
  if (usable_gpus() == 0) GTEST_SKIP() << "LibTorch refuses sums of a deterministic CUDA device";
  Side actor(test::make_side("cuda", DType::kBFloat16), 0);
  auto goes_back = std::async(std::launch::async, [] {
    Side learner(test::make_side("cuda", DType::kBFloat16), 0);
    for (int i = 0; i < 200; ++i) packed_attention(learner, {4, 2, 64}, {0, 5, 96});
  });
  const Tensor logits = actor.put_floats("logits", 8, 1000), ids = actor.float_output(1, 8);
  const DrawnTokens drawn{{ids.data, 1, 8, 8, DType::kInt32}, actor.float_output(1, 8)};
  const std::vector<Draw> draws(8, {.top_p = 0.9});
  int samples = 0;
  while (goes_back.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    ASSERT_NO_THROW(actor->sample(logits, draws, drawn)) << "after " << samples;
    ++samples;
  }
  EXPECT_NO_THROW(goes_back.get());
  EXPECT_GT(samples, 0) << "nothing was sampled during the backward passes";
}

std::string error_of(const std::string& device) {
  try {
    make_reference_operators(device, DType::kFloat32);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(AtenDevice, AMissingDeviceGivesAClearError) {
  EXPECT_NE(error_of("gpu").find("model.device \"gpu\": expected cpu, cuda or cuda:<number>"),
            std::string::npos);
  EXPECT_NE(error_of("meta").find("only cpu and cuda"), std::string::npos);
  if (usable_gpus() > 0) {
    EXPECT_NE(error_of("cuda:99").find("GPUs 0 to"), std::string::npos);
  } else {
    const std::string message = error_of("cuda");
    EXPECT_TRUE(message.find("built without CUDA") != std::string::npos ||
                message.find("no usable NVIDIA GPU") != std::string::npos)
        << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    std::printf("model.device cuda here: %s\n", message.c_str());
  }
}

}  // namespace
}  // namespace lie
