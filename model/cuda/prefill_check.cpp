#include "model/cuda/prefill_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/base/arithmetic.h"
#include "model/aten/agreement.h"
#include "model/cuda/kernels/kernels.h"

namespace lie::cuda {
namespace {

constexpr std::int64_t kPage = Operators::kPageTokens;

/// Rows of a sequence in the call: `rows` that follow `before` earlier positions.
struct OfSequence {
  std::int64_t before, rows;
};
/// Prefills that begin a sequence and continue one, within a page, over pages and over the splits
/// of the own kernel, and rows that are none. Five are no power of two, so that lists are padded.
constexpr OfSequence kSequences[] = {{40, 1},    {0, 64},  {37, 100}, {512, 1},
                                     {960, 129}, {17, 80}, {3, 300}};

class PagedExample {
 public:
  PagedExample(const AttentionShape& heads, at::Device device, const Queue& queue)
      : heads_(heads), queue_(queue), bf16_(at::TensorOptions(device).dtype(at::kBFloat16)) {
    for (const OfSequence& of : kSequences) {
      width_ = std::max(width_, divided_up(of.before + of.rows, kPage));
      for (std::int64_t row = 0; row < of.rows; ++row) {
        positions_.push_back(static_cast<std::int32_t>(of.before + row));
        sequences_.push_back(static_cast<std::int32_t>(&of - kSequences));
      }
    }
    queries_ = numbers({std::ssize(positions_), heads.q_cols() + heads.kv_cols()}, 0.37)
                   .mul_(4)  // so that some positions weigh much more than others
                   .narrow(1, 0, heads.q_cols());
    place_pages();
    positions_there_ = at::tensor(positions_, at::kInt).to(device);
    sequences_there_ = at::tensor(sequences_, at::kInt).to(device);
    prefills_ = prefills_of(batch());
  }

  /// Returns what the candidate writes into memory of sevens, or nothing if it supports no such
  /// call.
  at::Tensor compute(PrefillAttention& by) const {
    at::Tensor y = sevens();
    by.begin_pass();
    const bool is_done = by.forward(
        {queries_, layer_, table_.view({std::ssize(kSequences), width_}), heads_, prefills_}, y);
    return is_done ? y : at::Tensor();
  }
  /// Returns what the own kernel computes.
  at::Tensor compute_own() const {
    at::Tensor y = sevens();
    const at::Tensor scratch = at::empty(
        {y.size(0) * attention_decode_scratch(heads_, batch().longest)}, bf16_.dtype(at::kFloat));
    attention_decode(queue_, view_of(queries_), heads_, batch(), {view_of(pool_), kLayer},
                     scratch.data_ptr<float>(), view_of(y), {});
    return y;
  }
  /// Returns only the prefills' rows, or only the others.
  at::Tensor rows(const at::Tensor& y, bool of_prefills) const {
    at::Tensor is_one = at::zeros({y.size(0)}, y.options().dtype(at::kBool));
    for (const Prefill& prefill : prefills_) {
      is_one.narrow(0, prefill.first, prefill.rows).fill_(true);
    }
    return y.index_select(0, (of_prefills ? is_one : is_one.logical_not()).nonzero().view(-1));
  }

 private:
  static constexpr std::int64_t kLayers = 2, kLayer = 1;

  static Tensor view_of(const at::Tensor& x) {
    return {x.data_ptr(), x.size(0), x.size(1), x.stride(0), DType::kBFloat16};
  }
  /// Returns numbers from -1 to 1 without a pattern.
  at::Tensor numbers(at::IntArrayRef sizes, double pace) const {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    const at::Tensor steps = at::arange(count, bf16_.dtype(at::kDouble));
    return at::sin(steps * steps * pace).view(sizes).to(at::kBFloat16);
  }
  at::Tensor sevens() const {
    return at::full({std::ssize(positions_), heads_.q_cols()}, 7.0f, bf16_);
  }
  /// Gives each sequence pages in descending order, with NaN in slots that hold nothing. The rest
  /// of its row of the table is page 0, which holds only NaN.
  void place_pages() {
    std::int64_t all = 1;
    for (const OfSequence& of : kSequences) all += divided_up(of.before + of.rows, kPage);
    pool_ = at::full({all, kLayers * 2 * kPage * heads_.kv_cols()},
                     std::numeric_limits<float>::quiet_NaN(), bf16_);
    layer_ =
        pool_.view({all, kLayers, 2, heads_.kv_heads, kPage, heads_.head_width}).select(1, kLayer);
    std::vector<std::int32_t> table;
    for (const OfSequence& of : kSequences) {
      for (std::int64_t p = 0; p < width_; ++p) {
        const std::int64_t left = of.before + of.rows - p * kPage, count = std::min(kPage, left);
        table.push_back(left > 0 ? static_cast<std::int32_t>(--all) : 0);
        if (left <= 0) continue;
        const at::Tensor held =
            numbers(layer_[all].sizes(), 0.53 + 0.01 * static_cast<double>(all));
        layer_[all].narrow(2, 0, count).copy_(held.narrow(2, 0, count));
      }
    }
    table_ = at::tensor(table, at::kInt).to(bf16_.device());
  }
  DecodeBatch batch() const {
    const auto list = [](const at::Tensor& x) {
      return Indices{x.const_data_ptr<std::int32_t>(), x.numel()};
    };
    DecodeBatch batch;
    batch.positions = list(positions_there_);
    batch.sequences = list(sequences_there_);
    batch.table = list(table_);
    batch.table_width = width_;
    batch.longest = 1 + std::int64_t{*std::ranges::max_element(positions_)};
    batch.host_positions = positions_;
    batch.host_sequences = sequences_;
    return batch;
  }

  const AttentionShape& heads_;
  const Queue& queue_;
  at::TensorOptions bf16_;
  std::int64_t width_ = 0;
  std::vector<std::int32_t> positions_, sequences_;
  std::vector<Prefill> prefills_;
  at::Tensor queries_, pool_, layer_, table_, positions_there_, sequences_there_;
};

double error_of_worst_row(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kFloat), difference = got.to(at::kFloat) - wide;
  const at::Tensor shares = (difference * difference).sum(1) / (wide * wide).sum(1);
  return std::sqrt(shares.max().item<double>());
}

std::string defect_of(PrefillAttention& candidate, const PagedExample& example) {
  const at::Tensor own = example.compute_own(), first = example.compute(candidate);
  if (!first.defined()) return "it has no kernel for the shapes of the check";
  const double error = error_of_worst_row(example.rows(first, true), example.rows(own, true));
  if (!(error <= aten::kMostError)) {  // also if it is NaN
    return fmt::format("its results differ from the own kernel's by {:.2g} of a row", error);
  }
  if (!example.rows(first, false).eq(7.0f).all().item<bool>()) {
    return "it writes to rows of other sequences";
  }
  for (int i = 1; i < aten::kRepetitions; ++i) {
    if (!example.compute(candidate).equal(first)) return "the bits of its results do not repeat";
  }
  return {};
}

}  // namespace

std::string prefill_defect(PrefillAttention& candidate, const AttentionShape& heads,
                           at::Device device, const Queue& queue) {
  std::string refusal = candidate.refusal(heads, at::kBFloat16);
  if (!refusal.empty()) return refusal;
  return aten::defect_or_exception(
      [&] { return defect_of(candidate, PagedExample(heads, device, queue)); });
}

}  // namespace lie::cuda
