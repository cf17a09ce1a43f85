#include "model/cuda/operators.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/aten/aten_operators.h"
#include "model/aten/device.h"
#include "model/cuda/cuda_graphs.h"
#include "model/cuda/exact_operators.h"
#include "model/cuda/few_rows_check.h"
#include "model/cuda/kernels/kernels.h"
#include "model/cuda/nf4_weight.h"
#include "model/cuda/nvtx.h"
#include "model/cuda/prefill_choice.h"
#include "model/cuda/queue.h"
#include "model/operators/prefill.h"

namespace lie {
namespace {

class CudaOperators : public aten::AtenOperators {
 public:
  /// Scratch memory of attention: 64 MiB.
  static constexpr std::int64_t kScratchFloats = std::int64_t{1} << 24;

  using AtenOperators::AtenOperators;

  /// Chooses between own kernels and libraries by checks: now for matmuls of few rows, at its first
  /// call for attention of prefill.
  void choose_kernels() {
    if (activation_dtype() != DType::kBFloat16) return;
    prefill_.emplace(device());
    const std::string defect = cuda::few_rows_defect(device(), queue());
    uses_few_rows_ = defect.empty();
    matmul_in_use_ = uses_few_rows_ ? "the own kernel, whose check passed"
                                    : "cuBLAS, because the own kernel failed its check: " + defect;
  }

  std::vector<std::string> choices(PassKind kind, const AttentionShape& heads) override {
    if (kind == PassKind::kTraining) return AtenOperators::choices(kind, heads);
    std::vector<std::string> texts;
    if (!matmul_in_use_.empty()) texts.push_back("matmuls of few rows: " + matmul_in_use_);
    if (prefill_) texts.push_back("attention of prefill: " + prefill_->text(queue(), heads));
    return texts;
  }
  void begin_pass() override {
    AtenOperators::begin_pass();
    if (prefill_) prefill_->begin_pass();
  }
  void linear(Tensor x, const PackedWeight& w, Tensor y) override {
    if (!multiply_few_rows(x, w, {}, y)) AtenOperators::linear(x, w, y);
  }
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override {
    if (!multiply_few_rows(x, w, residual, y)) AtenOperators::linear_add(x, w, residual, y);
  }
  std::unique_ptr<CudaGraphs> cuda_graphs() override { return cuda::make_cuda_graphs(index()); }
  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                            WeightUse use) override {
    if (use != WeightUse::kNf4) return AtenOperators::make_weight(out, in, use);
    if (out * in % nf4::kBlock != 0) {
      fail("NF4 has blocks of {} weights, and a matrix has {}", nf4::kBlock, out * in);
    }
    if (!nf4_values_.defined()) {
      nf4_values_ = bytes_on_device(nf4::kValues.data(), sizeof(nf4::kValues)).view(at::kFloat);
    }
    largest_nf4_ = std::max(largest_nf4_, out * in);
    return std::make_unique<cuda::Nf4Weight>(out, in, device());
  }
  void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) override {
    const auto* const nf4 = dynamic_cast<const cuda::Nf4Weight*>(&weight);
    if (nf4 == nullptr) return AtenOperators::pack(weight, first_out, part);
    if (first_out * weight.in() % nf4::kBlock != 0 || part.elements() % nf4::kBlock != 0) {
      fail("rows from {} to {} of an NF4 weight do not begin and end with a block", first_out,
           first_out + part.rows);
    }
    cuda::quantize_nf4(queue(), part, nf4->rows(first_out, nf4_values_));
  }
  void embed(Tensor table, Indices tokens, Tensor y) override {
    cuda::embed(queue(), table, tokens, y);
  }
  void embed(const PackedWeight& table, Indices tokens, Tensor y) override {
    embed(packed(table), tokens, y);
  }
  void embed_backward(Tensor dy, Indices tokens, Tensor dtable) override {
    const at::Tensor links =
        at::empty({std::max<std::int64_t>(tokens.count, 1)}, options(at::kInt));
    cuda::embed_backward(queue(), dy, tokens, links.data_ptr<std::int32_t>(), dtable);
  }
  void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) override {
    cuda::rms_norm(queue(), x, weight, eps, y, inverse_rms);
  }
  void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                         Tensor dweight) override {
    cuda::rms_norm_backward(queue(), dy, x, weight, inverse_rms, dx, dweight,
                            partial(x.rows, x.cols).data_ptr<float>());
  }
  void swiglu(Tensor gate_up, Tensor y) override { cuda::swiglu(queue(), gate_up, y); }
  void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) override {
    cuda::swiglu_backward(queue(), dy, gate_up, d_gate_up, y);
  }
  void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) override {
    cuda::qk_norm_rope(queue(), qkv, how, rotated);
  }
  void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how, Tensor d_qkv,
                             Tensor dq_norm, Tensor dk_norm) override {
    const std::int64_t head_rows = qkv.rows * std::max(how.shape.heads, how.shape.kv_heads);
    cuda::qk_norm_rope_backward(queue(), d_rotated, qkv, how, d_qkv, dq_norm, dk_norm,
                                partial(head_rows, how.shape.head_width).data_ptr<float>());
  }
  void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape, const DecodeBatch& batch,
                KvPages pages) override {
    cuda::store_kv(queue(), rotated, qkv, shape, batch, pages);
  }
  void rotate_and_store(Tensor qkv, const QkNormRope& how, Tensor rotated, const DecodeBatch& batch,
                        KvPages pages) override {
    cuda::rotate_and_store(queue(), qkv, how, rotated, batch, pages);
  }
  void attention_decode(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                        KvPages pages, Tensor y) override {
    cuda::require_attention_decode(shape, pages);
    std::vector<Prefill> by_library = prefills_of(batch);
    if (!prefill_ || !prefill_->attend(queue(), rotated, shape, batch, pages, by_library, y)) {
      by_library.clear();
    }
    std::int64_t done = 0;
    const auto attend_to = [&](std::int64_t end) {
      const std::int64_t first = done, count = end - done;
      attend_rows(rotated.rows_at(first, count), shape, batch.rows_at(first, count), pages,
                  y.rows_at(first, count), {});
    };
    for (const Prefill& prefill : by_library) {
      attend_to(prefill.first);
      done = prefill.end();
    }
    attend_to(rotated.rows);
  }
  void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                 Tensor entropies, Tensor log_sum) override {
    const at::Tensor scratch = floats(logits.rows * cuda::log_probs_scratch(logits.cols));
    cuda::log_probs(queue(), logits, targets, temperature, scratch.data_ptr<float>(), log_probs,
                    entropies, log_sum);
  }
  void log_probs_backward(Tensor logits, Indices targets, float temperature, Tensor entropies,
                          Tensor log_sum, Tensor d_log_probs, Tensor d_entropies) override {
    cuda::log_probs_backward(queue(), logits, targets, temperature, entropies, log_sum, d_log_probs,
                             d_entropies);
  }
  void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) override {
    if (draws.empty()) return;
    const at::Tensor there = bytes_on_device(draws.data(), draws.size_bytes());
    const at::Tensor scratch = floats(std::ssize(draws) * cuda::sample_scratch(logits.cols));
    cuda::sample(queue(), logits, {static_cast<const Draw*>(there.const_data_ptr()), draws.size()},
                 scratch.data_ptr<float>(), drawn);
  }
  void sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) override {
    const at::Tensor there = at::empty({std::ssize(sums)}, options(at::kDouble));
    cuda::sums_of_squares(
        queue(), x, block,
        {there.data_ptr(), 1, std::ssize(sums), std::ssize(sums), DType::kFloat64});
    const at::Tensor here = there.cpu();
    std::copy_n(here.const_data_ptr<double>(), sums.size(), sums.begin());
  }
  void adamw(const AdamWStep& how, const AdamWTensors& x) override { cuda::adamw(queue(), how, x); }

 protected:
  int multiprocessors() const override { return cuda::multiprocessors(index()); }
  /// Dequantizes an NF4 weight to scratch memory, which all NF4 weights share. Calls run in stream
  /// order, so a matmul reads it before the next weight overwrites it.
  at::Tensor matrix(const PackedWeight& weight) override {
    const auto* const nf4 = dynamic_cast<const cuda::Nf4Weight*>(&weight);
    if (nf4 == nullptr) return AtenOperators::matrix(weight);
    const DType dtype = activation_dtype();
    if (dequantized_.empty() || dequantized_.back().numel() < largest_nf4_) {
      dequantized_.push_back(at::empty({largest_nf4_}, options(aten::scalar_type(dtype))));
    }
    const at::Tensor& scratch = dequantized_.back();
    cuda::dequantize_nf4(queue(), nf4->rows(0, nf4_values_),
                         {scratch.data_ptr(), weight.out(), weight.in(), weight.in(), dtype});
    return scratch.narrow(0, 0, weight.out() * weight.in()).view({weight.out(), weight.in()});
  }
  /// Computes attention_decode() by the own kernel, in parts whose scratch memory is limited.
  /// log_sum [T, H] is written unless empty.
  void attend_rows(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                   KvPages pages, Tensor y, Tensor log_sum) {
    for (std::int64_t first = 0, count = 0; first < rotated.rows; first += count) {
      const DecodeBatch part = first_rows(batch.rows_at(first, rotated.rows - first), shape);
      count = part.positions.count;
      const auto rows = [&](Tensor x) { return x.empty() ? x : x.rows_at(first, count); };
      const at::Tensor scratch =
          floats(count * cuda::attention_decode_scratch(shape, part.longest));
      cuda::attention_decode(queue(), rows(rotated), shape, part, pages, scratch.data_ptr<float>(),
                             rows(y), rows(log_sum));
    }
  }

 private:
  Tensor packed(const PackedWeight& weight) {
    return {matrix(weight).data_ptr(), weight.out(), weight.in(), weight.in(), packed_dtype()};
  }
  /// Computes linear() or linear_add() by the own kernel if it supports them. Otherwise returns
  /// false.
  bool multiply_few_rows(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) {
    // A weight in NF4 is dequantized by packed(), so not before the kernel is likely.
    if (!uses_few_rows_ || x.rows > cuda::kFewRows) return false;
    const Tensor weight = packed(w);
    if (!cuda::few_rows_support(x, weight, y)) return false;
    cuda::matmul_few_rows(queue(), x, weight, residual, y);
    return true;
  }
  /// Returns the first rows of a batch whose scratch memory fits, but at least one. They are few if
  /// one of them is long, so the longest is found anew where the host knows the positions.
  static DecodeBatch first_rows(const DecodeBatch& batch, const AttentionShape& shape) {
    const auto floats = [&](std::int64_t longest) {
      return cuda::attention_decode_scratch(shape, longest);
    };
    std::int64_t count =
        std::clamp<std::int64_t>(kScratchFloats / floats(batch.longest), 1, batch.positions.count);
    std::int64_t longest = batch.longest;
    if (!batch.host_positions.empty()) {
      count = longest = 0;
      for (const std::int32_t position : batch.host_positions) {
        const std::int64_t with = std::max(longest, position + std::int64_t{1});
        if (count > 0 && (count + 1) * floats(with) > kScratchFloats) break;
        longest = with;
        ++count;
      }
    }
    DecodeBatch part = batch.rows_at(0, count);
    part.longest = longest;
    return part;
  }
  int index() const { return device().index(); }
  cuda::Queue queue() const { return cuda::current_queue(index()); }
  /// Returns scratch memory for kernels. The caller may release it right after the launch, because
  /// ATen reuses memory in stream order.
  at::Tensor floats(std::int64_t count) const {
    return at::empty({std::max<std::int64_t>(count, 1)}, options(at::kFloat));
  }
  /// Returns memory for the partial sums between the two kernels of a sum over rows.
  at::Tensor partial(std::int64_t rows, std::int64_t columns) const {
    return floats(cuda::partial_sums(rows, columns));
  }

  bool uses_few_rows_ = false;
  std::string matmul_in_use_;
  std::optional<cuda::PrefillChoice> prefill_;  // none: always the own kernel
  at::Tensor nf4_values_;                       // nf4::kValues on the device
  std::int64_t largest_nf4_ = 0;                // elements of the largest NF4 weight
  // The last one is in use. CUDA graphs contain the addresses of earlier ones.
  std::vector<at::Tensor> dequantized_;
};

}  // namespace

namespace cuda {

void require_attention_decode(const AttentionShape& shape, const KvPages& pages) {
  if (attention_decode_supports(shape, pages)) return;
  fail("model.device cuda: heads of width {} are not a multiple of 8 up to 128; use cpu",
       shape.head_width);
}

void fail_to(const char* what, const char* reason) {
  throw TransientError(fmt::format("CUDA cannot {}: {}", what, reason));
}

}  // namespace cuda

int usable_gpus() { return aten::usable_gpus(); }

std::unique_ptr<Operators> make_cuda_operators(std::string_view device, DType dtype, int threads,
                                               CudaBits bits) {
  const at::Device usable = aten::usable_device(device);
  if (usable.is_cuda() == cuda::kernels_are_emulated()) {
    fail("device \"{}\": the kernels of this build run on {}", device,
         usable.is_cuda() ? "emulated lanes; build it with preset cuda (-DLIE_CUDA=ON)"
                          : "CUDA devices only");
  }
  current_tracer = cuda::nvtx_tracer();
  if (threads > 0) at::set_num_threads(threads);
  if (bits == CudaBits::kExact) {  // chooses nothing: own attention, and matmuls of many rows
    return std::make_unique<cuda::ExactOperators<CudaOperators>>(usable, dtype);
  }
  auto operators = std::make_unique<CudaOperators>(usable, dtype);
  operators->choose_kernels();
  return operators;
}

}  // namespace lie
