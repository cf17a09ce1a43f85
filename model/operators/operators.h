// The operators of a transformer, forward and backward. One implementation computes on the CPU with
// bits that depend on nothing but a row's own input (model/cpu), one through ATen on any of its
// devices (model/aten; model/cuda adds own kernels). The model code never looks at elements.
//
// Letters in shapes: T rows (tokens), D width, H heads, K kv-heads, E head width, F feed-forward
// width, V vocabulary. Activations have dtype activation_dtype(), row statistics (inverse_rms,
// log_sum, log-probs) and all gradients of weights fp32. Tensors may have a row stride above their
// column count. Outputs are overwritten unless said otherwise. Calls on one object come from one
// thread; a device implementation may run behind until copy_to_host() or ReceiveTokens.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/device_span.h"
#include "model/operators/cuda_graphs.h"
#include "model/operators/sampling.h"
#include "model/operators/tensor.h"

namespace lie {

/// kFixed: no gradient is asked of it.
enum class WeightUse { kTrained, kFixed };

/// A weight matrix [out, in] in the layout an implementation computes with.
class PackedWeight {
 public:
  PackedWeight(std::int64_t out, std::int64_t in) : out_(out), in_(in) {}
  virtual ~PackedWeight() = default;
  std::int64_t out() const { return out_; }
  std::int64_t in() const { return in_; }
  /// As it is held now, without what gradients need beside it.
  virtual std::int64_t bytes() const = 0;
  /// [out, in] where it is held so, at one address for its life; empty: in a layout of its own.
  virtual Tensor matrix_view() const { return {}; }

 private:
  std::int64_t out_, in_;
};

/// Heads of one attention layer. Rows of "qkv" are [H*E queries | K*E keys | K*E values]; rows of
/// "rotated" [H*E queries | K*E keys] after the norm of each head and rotation. Scores are scaled
/// by 1/sqrt(E).
struct AttentionShape {
  std::int64_t heads = 0, kv_heads = 0, head_width = 0;
  std::int64_t q_cols() const { return heads * head_width; }
  std::int64_t kv_cols() const { return kv_heads * head_width; }
  std::int64_t qkv_cols() const { return q_cols() + 2 * kv_cols(); }
};

/// Norm of each query and key head and rotation of the halves (x1, x2) -> (x1 c - x2 s, x2 c + x1
/// s).
struct QkNormRope {
  AttentionShape shape;
  Tensor q_norm, k_norm;  // [E] weights, empty without QK-norm
  float eps = 0;
  Tensor rope;        // [positions, E] fp32: E/2 cosines, then E/2 sines
  Indices positions;  // [T]
};

/// Sequences laid end to end: sequence s has the rows [starts[s], starts[s + 1]).
struct PackedSequences {
  std::span<const std::int32_t> starts;  // [S + 1], host
  Indices device_starts;                 // the same
  std::int64_t longest = 0;              // rows of the longest sequence
};

/// Keys and values of one layer, in pages of kPageTokens positions; the implementation decides the
/// layout within a page. All layers' parts of a page are one row of `pool` [pages, L * 2 *
/// kPageTokens * K * E].
struct KvPages {
  Tensor pool;
  std::int64_t layer = 0;
};

/// The rows of one decode call. Rows of one sequence are consecutive, positions ascending.
struct DecodeBatch {
  Indices positions;  // [T] position of the row in its sequence; it attends to [0, position]
  Indices slots;      // [T] page * kPageTokens + place within it, where its key and value go
  Indices sequences;  // [T] row of `table`
  Indices table;      // [sequences, table_width] page numbers
  std::int64_t table_width = 0;
  std::int64_t longest = 0;  // largest position + 1
};

/// The scalars of one AdamW step (arXiv:1711.05101, algorithm 2), rounded to the elements' dtype:
///   g = clip gradient
///   first = beta1 first + one_minus_beta1 g
///   second = beta2 second + one_minus_beta2 g g
///   weights = keep weights - step_size first / (sqrt(second) / root_correction + eps)
struct AdamWStep {
  float clip, keep, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction, eps;
};
/// [1, N] each; the gradient is only read.
struct AdamWTensors {
  Tensor gradient, weights, first, second;
};

/// Waits for tokens on their way to the host, and for no later call; once.
using ReceiveTokens = std::function<void(std::span<std::int32_t> ids, std::span<float> log_probs)>;

class Operators {
 public:
  static constexpr std::int64_t kPageTokens = 16, kTileOfRows = 32;

  virtual ~Operators() = default;

  // ---- Memory
  virtual DType activation_dtype() const = 0;
  /// Of packed weights, and of keys and values in pages.
  virtual DType packed_dtype() const { return activation_dtype(); }
  ComputeDTypes dtypes() const { return {activation_dtype(), packed_dtype()}; }
  /// New uninitialised memory, rows contiguous. Throws Error with the bytes wanted if it cannot be
  /// had.
  virtual Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) = 0;
  /// Zeros [1, count], fp32, for weights, which operators may hold elsewhere than the rest.
  virtual Buffer allocate_weights(std::int64_t count) {
    Buffer memory = allocate(1, count, DType::kFloat32);
    zero(memory.view());
    return memory;
  }
  /// Bytes that allocate() can still give, where that is known: the host's are everybody's.
  virtual std::optional<std::int64_t> free_bytes() const { return {}; }
  /// Where that memory is. The host may access it only if it is host memory.
  virtual MemoryPlace place() const = 0;
  /// A tensor of closed rows as collectives take it.
  DeviceSpan span(Tensor x) const { return {x.data, x.elements(), x.dtype, place()}; }
  /// Host integers where the operators can read them, until the next begin_pass(); the host memory
  /// must live as long.
  virtual Indices upload(std::span<const std::int32_t> host) = 0;
  virtual void begin_pass() = 0;
  virtual void zero(Tensor x) = 0;
  /// Of the same shape; fp32 becomes bf16 as common/base/bfloat16.h rounds it, and bf16 fp32.
  virtual void copy(Tensor from, Tensor to) = 0;
  virtual void copy_to_host(Tensor from, std::span<float> to) = 0;  // rows closed up; waits
  /// Drawn tokens on their way to the host, as the calls so far leave them.
  virtual ReceiveTokens send_to_host(const DrawnTokens& drawn) = 0;
  virtual void copy_from_host(std::span<const float> from, Tensor to) = 0;

  // ---- Memory that another process computes with. Where it cannot be had, `refusal` says why, and
  // what to do about it.
  virtual std::optional<MemoryHandle> share(Tensor x, std::string& refusal) {
    static_cast<void>(x);
    refusal = "these operators share no memory with other processes";
    return {};
  }
  /// The beginning of an allocation that another process shared: mapped here until the buffer ends;
  /// its view has no shape. Empty: refused.
  virtual Buffer open_shared(const MemoryHandle& handle, std::string& refusal) {
    static_cast<void>(handle);
    refusal = "these operators share no memory with other processes";
    return {};
  }
  /// A weight that is `matrix` where it lies, and is not packed here; null where matrix_view() is
  /// empty.
  virtual std::unique_ptr<PackedWeight> weight_at(Tensor matrix) {
    static_cast<void>(matrix);
    return nullptr;
  }

  /// Returns the CUDA graphs of one policy's decode steps, or null where replay gains nothing.
  virtual std::unique_ptr<CudaGraphs> cuda_graphs() { return nullptr; }

  // ---- Products. A row of y depends on that row of x alone.
  /// A fixed weight may be held smaller where that changes no bit of a product.
  virtual std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                                    WeightUse use = WeightUse::kTrained) = 0;
  /// Sets the rows [first_out, first_out + part.rows) of the weight from part [., in], fp32, rows
  /// closed.
  virtual void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) = 0;
  /// y = x W^T; y may be fp32 where x is bf16 (logits).
  virtual void linear(Tensor x, const PackedWeight& w, Tensor y) = 0;
  /// y = residual + x W^T; y may be residual.
  virtual void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) = 0;
  /// x[t] += bias [1, cols] in every row; for columns of a product.
  virtual void add_bias(Tensor x, Tensor bias) = 0;
  /// dbias [1, cols] += sum of dy's rows, in order; dbias fp32.
  virtual void add_bias_backward(Tensor dy, Tensor dbias) = 0;
  /// dx = dy W; dy may be fp32 where dx is bf16 (logits), here and below. Throws Error if the
  /// weight is fixed.
  virtual void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) = 0;
  /// dw += dy^T x, [out, in] fp32; over rows in order, so that cutting the rows changes no bits,
  /// or, where operators sum by tiles of rows, cutting them between sequences or after a multiple
  /// of kTileOfRows of a sequence's. `starts` [S + 1]: first row of each sequence, then the end;
  /// empty: one.
  virtual void linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                                      Tensor dw) = 0;

  // ---- Workers
  /// Operators to work with at the same time, each on sequences of its own, by somebody who reads
  /// `weights` elements: these alone, or, where that is faster than sharing each call among
  /// threads, some of one thread each, in the same memory and valid as long as these.
  virtual std::vector<Operators*> workers(std::int64_t weights) {
    static_cast<void>(weights);
    return {this};
  }
  /// Calls work(i) for i in [0, count), of as many workers at most, at the same time; work(0) on
  /// the caller's thread. Throws what the first that failed has thrown.
  virtual void run_workers(std::int64_t count, const std::function<void(std::int64_t)>& work) {
    for (std::int64_t i = 0; i < count; ++i) work(i);
  }
  /// Of one training pass, so that what it leaves for the way back stays in caches where the
  /// `weights` elements do.
  virtual std::int64_t most_pass_tokens(std::int64_t weights) const {
    static_cast<void>(weights);
    return std::numeric_limits<std::int64_t>::max();
  }

  // ---- Rows
  virtual void embed(Tensor table, Indices tokens, Tensor y) = 0;  // y[t] = table[tokens[t]]
  /// The same from a packed table, the head of a tied model.
  virtual void embed(const PackedWeight& table, Indices tokens, Tensor y) = 0;
  virtual void embed_backward(Tensor dy, Indices tokens,
                              Tensor dtable) = 0;  // dtable[tokens[t]] += dy[t], in order
  /// to[t] = tokens[t], or drawn[-1 - tokens[t]] where that is negative; [1, *] int32 each.
  virtual void look_up_drawn(Indices tokens, Tensor drawn, Tensor to) = 0;
  virtual void gather_rows(Tensor x, Indices rows, Tensor y) = 0;  // y[r] = x[rows[r]]
  virtual void scatter_rows(Tensor y, Indices rows,
                            Tensor x) = 0;  // x[rows[r]] = y[r], other rows 0
  /// y = x / rms(x) * weight; inverse_rms [1, T] is kept unless empty.
  virtual void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) = 0;
  /// dx += ..., dweight [1, D] += ... (over rows in order).
  virtual void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                                 Tensor dweight) = 0;
  /// gate_up [T, 2F] = [gate | up]; y = silu(gate) * up.
  virtual void swiglu(Tensor gate_up, Tensor y) = 0;
  /// y: swiglu(gate_up) again, so that it need not be kept for the weights after it.
  virtual void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) = 0;

  // ---- Attention
  virtual void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) = 0;
  /// d_rotated is used up. d_qkv: its query and key columns are written. dq_norm, dk_norm [1, E] +=
  /// ... (empty without QK-norm).
  virtual void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how,
                                     Tensor d_qkv, Tensor dq_norm, Tensor dk_norm) = 0;
  /// Puts each row's rotated keys and its values where `batch.slots` says.
  virtual void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                        const DecodeBatch& batch, KvPages pages) = 0;
  /// Both for the rows of a decode call. Of `rotated` only the queries are read after it.
  virtual void rotate_and_store(Tensor qkv, const QkNormRope& how, Tensor rotated,
                                const DecodeBatch& batch, KvPages pages) {
    qk_norm_rope(qkv, how, rotated);
    store_kv(rotated, qkv, how.shape, batch, pages);
  }
  virtual void attention_decode(Tensor rotated, const AttentionShape& shape,
                                const DecodeBatch& batch, KvPages pages,
                                Tensor y) = 0;  // y [T, H*E]
  /// Causal attention within each sequence; log_sum [T, H] of the scaled scores is kept unless
  /// empty.
  virtual void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                         const PackedSequences& sequences, Tensor y, Tensor log_sum) = 0;
  /// Writes d_rotated whole and the value columns of d_qkv.
  virtual void attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y, Tensor log_sum,
                                  const AttentionShape& shape, const PackedSequences& sequences,
                                  Tensor d_rotated, Tensor d_qkv) = 0;

  // ---- Head. z = logits / temperature, computed as logits * (1 / temperature).
  /// log_probs[r] = z[target] - logsumexp(z), entropies[r] in nats, log_sum[r] = logsumexp(z); each
  /// [1, R] fp32.
  virtual void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                         Tensor entropies, Tensor log_sum) = 0;
  /// logits := d(loss)/d(logits), in place, from d(loss)/d(log_probs) and d(loss)/d(entropies), [1,
  /// R] fp32.
  virtual void log_probs_backward(Tensor logits, Indices targets, float temperature,
                                  Tensor entropies, Tensor log_sum, Tensor d_log_probs,
                                  Tensor d_entropies) = 0;
  /// Draws one token for each of `draws` from its row of logits [*, V] fp32: its id, and its
  /// log-prob over the whole vocabulary, which is what log_probs() gives that row at the draw's
  /// temperature (1 for greedy draws): the same bits from the CPU operators, and from ATen's in a
  /// call of as many rows. The two implementations draw the same id unless the uniform lies within
  /// rounding of the border between two. Where a row's log-sum-exp is not finite, nor is the
  /// log-prob.
  virtual void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) = 0;

  // ---- Optimizer. fp32, rows closed.
  /// to += from, element by element.
  virtual void add(Tensor from, Tensor to) = 0;
  /// sums[i] = the sum of the squares, in double, of the elements [i * block, (i + 1) * block), the
  /// last of which may be fewer.
  virtual void sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) = 0;
  virtual void adamw(const AdamWStep& how, const AdamWTensors& x) = 0;
};

/// Zeroed memory that several processes map, for the weights that all of them compute with.
struct SharedFloats {
  std::span<float> memory;
  bool writes = false;  // the others find in it what one of them writes and packs
};

/// On the host's cores and in its memory, `threads` >= 1 of them (the caller is one). Bits do not
/// depend on `threads` nor on the instruction set found at run time (AVX2 or AVX-512). Where
/// `shared` is given, weights and packed weights take their places there in the order they are
/// made, which must be the same in all its processes; pack() does nothing in those that do not
/// write. Throws Error, then or later, where it is too small.
/// `products` kBFloat16: their operands are rounded to bf16, their sums fp32, by the processor's
/// matrix unit (AMX) or with the same bits without one.
std::unique_ptr<Operators> make_cpu_operators(int threads, const SharedFloats& shared = {},
                                              DType products = DType::kFloat32);

/// Whether the processor has one; without it products in bf16 are slower than in fp32.
bool has_matrix_unit();

}  // namespace lie
