// The CPU operators. Each call is cut into ranges of rows or columns for the thread team, and the
// inner loops of kernels.h run over those ranges.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "model/cpu/kernels/attention_jobs.h"
#include "model/cpu/kernels/kernels.h"
#include "model/cpu/sampling.h"
#include "model/operators/operators.h"
#include "model/operators/thread_team.h"

namespace lie::cpu {

/// fp32 memory aligned to cache lines.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  /// Allocates uninitialized memory. Throws Error with the number of bytes if the allocation fails.
  explicit AlignedFloats(std::int64_t count);
  float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  void* release() { return data_.release(); }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float, Free> data_;
  std::int64_t size_ = 0;
};

/// A weight in panels of kPanel outputs. After the first gradient it also holds its transpose.
class PanelWeight : public PackedWeight {
 public:
  /// Packs the rows [first_out, first_out + rows) from row-major memory.
  void pack(ThreadTeam& team, std::int64_t first_out, std::int64_t rows, const float* matrix);
  virtual void copy_row(std::int64_t out, float* to) const = 0;

 protected:
  PanelWeight(std::int64_t out, std::int64_t in, WeightUse use, Buffer memory)
      : PackedWeight(out, in), memory_(std::move(memory)), use_(use) {}
  /// Sets columns of a panel from rows of a matrix.
  virtual void pack_panel(std::int64_t panel, Range columns, const float* matrix) = 0;
  /// Returns the memory of the transpose, of `floats` elements, after transpose(memory) if the
  /// weight has changed. Throws Error if the weight is fixed.
  template <typename Transpose>
  float* transposed_by(std::int64_t floats, const Transpose& transpose) {
    if (use_ == WeightUse::kFixed) fail("a fixed weight has no gradient");
    const std::lock_guard lock(transpose_mutex_);
    if (transposed_.size() != floats) transposed_ = AlignedFloats(floats);
    if (!transposed_current_) transpose(transposed_.data());
    transposed_current_ = true;
    return transposed_.data();
  }

  Buffer memory_;

 private:
  WeightUse use_;
  std::mutex transpose_mutex_;  // workers may request the transpose concurrently
  AlignedFloats transposed_;
  bool transposed_current_ = false;
};

/// A weight in fp32. A fixed or frozen weight of this process alone is narrow, that is stored as
/// bf16, until values are packed that bf16 would round. Its transpose is narrow, too.
class CpuWeight : public PanelWeight {
 public:
  /// `panels` is memory for layout().elements() fp32 numbers, or half of it if the weight
  /// `is_narrow`.
  CpuWeight(std::int64_t out, std::int64_t in, WeightUse use, bool is_narrow, Buffer panels);
  std::int64_t bytes() const override {
    return layout().elements() * dtype_bytes(is_narrow_ ? DType::kBFloat16 : DType::kFloat32);
  }
  /// Converts a narrow weight to fp32 in `panels`, which replaces its memory.
  void widen(Buffer panels);
  PanelLayout layout() const { return {in(), panels_for(out())}; }
  /// Either panels() or narrow() is null.
  float* panels() const { return is_narrow_ ? nullptr : static_cast<float*>(memory_.view().data); }
  std::uint16_t* narrow() const {
    return is_narrow_ ? static_cast<std::uint16_t*>(memory_.view().data) : nullptr;
  }
  void copy_row(std::int64_t out, float* to) const override;
  /// The panels of the transposed weight. One of both is null.
  struct Transposed {
    const float* panels;
    const std::uint16_t* narrow;
  };
  /// Throws Error if the weight is fixed.
  Transposed transposed(ThreadTeam& team);

 private:
  template <typename Number>
  void transpose(ThreadTeam& team, const Number* from, Number* to) const;
  /// Also sets columns past `out` to zero.
  void pack_panel(std::int64_t panel, Range columns, const float* matrix) override;

  bool is_narrow_;
};

/// Thresholds that decide whether threads share work. They change no bits.
struct SharingLimits {
  /// Least work of an operator that threads share. The caller alone is faster for less.
  std::int64_t cycles = 3000;
  /// Bytes of packed weights that fit into the cores' caches; see workers().
  std::int64_t cached_bytes = 32 << 20;
};

class CpuOperators : public Operators {
 public:
  explicit CpuOperators(int threads, const SharingLimits& sharing = {},
                        const SharedFloats& shared = {});

  DType activation_dtype() const override { return DType::kFloat32; }
  Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) override;
  Buffer allocate_weights(std::int64_t count) override;
  MemoryPlace place() const override { return {}; }
  Indices upload(std::span<const std::int32_t> host) override;
  void begin_pass() override {}
  void zero(Tensor x) override;
  void copy(Tensor from, Tensor to) override;
  void copy_to_host(Tensor from, std::span<float> to) override;
  ReceiveTokens send_to_host(const DrawnTokens& drawn) override;
  void copy_from_host(std::span<const float> from, Tensor to) override;

  std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                            WeightUse use) override;
  void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) override;
  void linear(Tensor x, const PackedWeight& w, Tensor y) override;
  void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) override;
  void add_bias(Tensor x, Tensor bias) override;
  void add_bias_backward(Tensor dy, Tensor dbias) override;
  void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) override;
  void linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) override;
  void linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                              Tensor dw) override;
  void scale(Tensor x, float factor) override;

  std::vector<Operators*> workers(std::int64_t weights) override;
  void run_workers(std::int64_t count, const std::function<void(std::int64_t)>& work) override;
  std::int64_t most_pass_tokens(std::int64_t weights) const override;

  void embed(Tensor table, Indices tokens, Tensor y) override;
  void embed(const PackedWeight& table, Indices tokens, Tensor y) override;
  void embed_backward(Tensor dy, Indices tokens, Tensor dtable) override;
  void look_up_drawn(Indices tokens, Tensor drawn, Tensor to) override;
  void bar(Tensor logits, Indices rows, Indices ids) override;
  void gather_rows(Tensor x, Indices rows, Tensor y) override;
  void scatter_rows(Tensor y, Indices rows, Tensor x) override;
  void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) override;
  void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                         Tensor dweight) override;
  void swiglu(Tensor gate_up, Tensor y) override;
  void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) override;

  void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) override;
  void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how, Tensor d_qkv,
                             Tensor dq_norm, Tensor dk_norm) override;
  void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape, const DecodeBatch& batch,
                KvPages pages) override;
  void attention_decode(Tensor rotated, const AttentionShape& shape, const DecodeBatch& batch,
                        KvPages pages, Tensor y) override;
  void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                 const PackedSequences& sequences, Tensor y, Tensor log_sum) override;
  void attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y, Tensor log_sum,
                          const AttentionShape& shape, const PackedSequences& sequences,
                          Tensor d_rotated, Tensor d_qkv) override;

  void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                 Tensor entropies, Tensor log_sum) override;
  void log_probs_backward(Tensor logits, Indices targets, float temperature, Tensor entropies,
                          Tensor log_sum, Tensor d_log_probs, Tensor d_entropies) override;
  void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) override;

  void add(Tensor from, Tensor to) override;
  void sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) override;
  void adamw(const AdamWStep& how, const AdamWTensors& x) override;

 protected:
  /// Cuts [0, count) into one range per member at multiples of `grain` and runs body(Range) or
  /// body(Range, member). If `work` (about cycles) is not worth waking the other threads, the
  /// caller runs the whole range.
  template <typename F>
  void split(std::int64_t count, std::int64_t grain, std::int64_t work, const F& body);
  /// Cuts a matmul into calls of body(rows, panels, member). `cycles` is the work of one row.
  template <typename F>
  void split_matmul(std::int64_t rows, std::int64_t panels, std::int64_t cycles, const F& body);
  /// Cuts a weight's gradient [out, in] along its longer side into calls of body(out, in, member).
  /// `grain` counts outputs.
  template <typename F>
  void split_gradient(const Tensor& dw, std::int64_t grain, std::int64_t work, const F& body);
  void reserve_scratch(std::int64_t floats_per_member);
  float* scratch(int member) const { return scratch_[static_cast<std::size_t>(member)].data(); }
  /// Returns whether this process writes packed weights. In shared memory another one may do so.
  bool writes_weights() const { return shared_.memory.empty() || shared_.writes; }
  virtual const AttentionKernels& attention_kernels() const;
  /// Returns an NF4 weight. Throws Error if it is not made of whole blocks.
  std::unique_ptr<PackedWeight> make_nf4_weight(std::int64_t out, std::int64_t in);
  /// Returns operators of the same arithmetic with one thread and without shared memory.
  virtual std::unique_ptr<CpuOperators> single_threaded() const;

  ThreadTeam team_;

 private:
  bool are_cached(std::int64_t weights) const {
    return weights * dtype_bytes(packed_dtype()) <= sharing_.cached_bytes;
  }
  void matmul_in_parts(const Matmul& matmul, std::int64_t rows);
  /// Computes a matmul whose weight dequantize(panel, to) writes, one panel at a time.
  template <typename Dequantize>
  void matmul_by_panels(const Matmul& matmul, std::int64_t rows, const Dequantize& dequantize);
  void backward_input(Tensor dy, PackedWeight& w, Tensor residual, Tensor dx);

  std::vector<AlignedFloats> scratch_;  // per member
  SharingLimits sharing_;
  SharedFloats shared_;               // empty: weights are in this process's own memory
  std::int64_t shared_used_ = 0;      // elements of shared_ in use
  std::vector<RowSampler> samplers_;  // per member
  std::vector<std::unique_ptr<CpuOperators>> single_thread_workers_;  // per member, single-threaded
};

inline float* floats(const Tensor& x) { return static_cast<float*>(x.data); }
inline float* row(const Tensor& x, std::int64_t t) { return floats(x) + t * x.stride; }
inline Rows rows_of(const Tensor& x) { return {floats(x), x.stride}; }

template <typename F>
void CpuOperators::split(std::int64_t count, std::int64_t grain, std::int64_t work, const F& body) {
  const auto call = [&](Range range, int member) {
    if constexpr (std::is_invocable_v<F, Range, int>) {
      body(range, member);
    } else {
      body(range);
    }
  };
  const std::int64_t members = team_.size();
  if (members == 1 || work < sharing_.cycles || count <= grain) {
    call({0, count}, 0);
    return;
  }
  const std::int64_t grains = (count + grain - 1) / grain;
  team_.run([&](int member) {
    const std::int64_t begin = grains * member / members * grain;
    const std::int64_t end = std::min(grains * (member + 1) / members * grain, count);
    if (begin < end) call({begin, end}, member);
  });
}

/// With few rows, each member computes its own panels, so that its share of the weights stays in
/// its cache. With many rows, each member computes its own rows.
template <typename F>
void CpuOperators::split_matmul(std::int64_t rows, std::int64_t panels, std::int64_t cycles,
                                const F& body) {
  constexpr std::int64_t kManyRows = 512;
  if (rows >= kManyRows || panels < team_.size()) {
    split(rows, 1, rows * cycles, [&](Range some, int member) {
      body(some, Range{0, panels}, member);
    });
  } else {
    split(panels, 1, rows * cycles, [&](Range some, int member) {
      body(Range{0, rows}, some, member);
    });
  }
}

template <typename F>
void CpuOperators::split_gradient(const Tensor& dw, std::int64_t grain, std::int64_t work,
                                  const F& body) {
  constexpr std::int64_t kInputs = 32;  // columns of a tile
  if (dw.rows >= dw.cols) {
    split(dw.rows, grain, work, [&](Range out, int member) {
      body(out, Range{0, dw.cols}, member);
    });
  } else {
    split(dw.cols, kInputs, work, [&](Range in, int member) {
      body(Range{0, dw.rows}, in, member);
    });
  }
}

}  // namespace lie::cpu
