// The operators of a transformer, forward and backward. The CPU implementation (model/cpu) gives
// bits that depend only on a row's own input. The ATen implementation (model/aten) computes on any
// ATen device, and model/cuda adds CUDA kernels to it. The model code never accesses elements.
//
// Shape letters: T rows (tokens), D width, H heads, K kv-heads, E head width, F feed-forward width,
// V vocabulary. Activations have dtype activation_dtype(). Row statistics (inverse_rms, log_sum,
// log-probs) and all weight gradients are fp32. Tensors may have a row stride above their column
// count. Outputs are overwritten unless stated otherwise. All calls on one object must come from
// one thread. A device implementation may run asynchronously until copy_to_host() or ReceiveTokens.
#pragma once

#include <cstddef>
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

/// Whether a weight is trained. A kFixed weight has no gradient. A kFrozen weight never changes
/// either, but gradients pass through it to its input. A kNf4 weight is frozen, too, and pack()
/// quantizes it (model/operators/nf4.h), so matmuls compute with the dequantized weights.
enum class WeightUse { kTrained, kFixed, kFrozen, kNf4 };

/// A weight matrix [out, in] in the layout an implementation computes with.
class PackedWeight {
 public:
  PackedWeight(std::int64_t out, std::int64_t in) : out_(out), in_(in) {}
  virtual ~PackedWeight() = default;
  std::int64_t out() const { return out_; }
  std::int64_t in() const { return in_; }
  /// Returns the size of the packed weight itself, without data kept for gradients.
  virtual std::int64_t bytes() const = 0;

 private:
  std::int64_t out_, in_;
};

/// The heads of one attention layer. A row of "qkv" is [H*E queries | K*E keys | K*E values]. A row
/// of "rotated" is [H*E queries | K*E keys] after the norm of each head and the rotation. Scores
/// are scaled by 1/sqrt(E).
struct AttentionShape {
  std::int64_t heads = 0, kv_heads = 0, head_width = 0;
  std::int64_t q_cols() const { return heads * head_width; }
  std::int64_t kv_cols() const { return kv_heads * head_width; }
  std::int64_t qkv_cols() const { return q_cols() + 2 * kv_cols(); }
};

/// Arguments of the norm of each query and key head and of the rotation of the halves, (x1, x2) ->
/// (x1 c - x2 s, x2 c + x1 s).
struct QkNormRope {
  AttentionShape shape;
  Tensor q_norm, k_norm;  // [E] weights, empty without QK-norm
  float eps = 0;
  Tensor rope;        // [positions, E] fp32: E/2 cosines, then E/2 sines
  Indices positions;  // [T]
};

/// Sequences stored one after another: sequence s has the rows [starts[s], starts[s + 1]).
struct PackedSequences {
  std::span<const std::int32_t> starts;  // [S + 1], host
  Indices device_starts;                 // `starts` on the device
  std::int64_t longest = 0;              // rows of the longest sequence
};

/// The keys and values of one layer, in pages of kPageTokens positions. The implementation decides
/// the layout within a page. A row of `pool` [pages, L * 2 * kPageTokens * K * E] is one page of
/// all layers.
struct KvPages {
  Tensor pool;
  std::int64_t layer = 0;
};

/// The rows of one decode call. Rows of one sequence are consecutive, positions ascending.
struct DecodeBatch {
  Indices positions;  // [T] position of the row in its sequence; it attends to [0, position]
  Indices slots;      // [T] page * kPageTokens + offset in the page: the row's cache slot
  Indices sequences;  // [T] row of `table`
  Indices table;      // [sequences, table_width] page numbers
  std::int64_t table_width = 0;
  std::int64_t longest = 0;  // largest position + 1
  // `positions` and `sequences` on the host. Empty in captured steps, whose kernels must not depend
  // on them.
  std::span<const std::int32_t> host_positions = {}, host_sequences = {};

  /// Returns the rows [first, first + count). `longest` stays that of all.
  DecodeBatch rows_at(std::int64_t first, std::int64_t count) const {
    DecodeBatch part = *this;
    for (Indices* list : {&part.positions, &part.slots, &part.sequences}) {
      if (list->data != nullptr) *list = list->from(first, count);
    }
    for (std::span<const std::int32_t>* list : {&part.host_positions, &part.host_sequences}) {
      if (!list->empty()) {
        *list = list->subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      }
    }
    return part;
  }
};

/// The scalars of one AdamW step (arXiv:1711.05101, algorithm 2), rounded to the elements' dtype:
///   g = clip gradient
///   first = beta1 first + one_minus_beta1 g
///   second = beta2 second + one_minus_beta2 g g
///   weights = keep weights - step_size first / (sqrt(second) / root_correction + eps)
/// Moments in bf16 are widened to fp32, and stored with stochastic rounding: see
/// model/operators/moment_rounding.h.
struct AdamWStep {
  float clip, keep, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction, eps;
  std::int64_t update = 0;   // number of the update, which the rounding depends on
  std::int64_t element = 0;  // index of the first element in the flat order, likewise
};
/// The tensors of one AdamW step, [1, N] each. The gradient is only read. The moments have one
/// dtype, fp32 or bf16; the rest is fp32.
struct AdamWTensors {
  Tensor gradient, weights, first, second;
};

/// What operators compute: decode calls of an actor, or passes of a learner.
enum class PassKind { kGeneration, kTraining };

/// Waits for tokens that are being copied to the host, but for no later work of the device, and
/// stores them. May be called once.
using ReceiveTokens = std::function<void(std::span<std::int32_t> ids, std::span<float> log_probs)>;

class Operators {
 public:
  static constexpr std::int64_t kPageTokens = 16, kTileOfRows = 32;

  virtual ~Operators() = default;

  // ---- Memory
  virtual DType activation_dtype() const = 0;
  /// Returns the dtype of packed weights, and of the keys and values in pages.
  virtual DType packed_dtype() const { return activation_dtype(); }
  ComputeDTypes dtypes() const { return {activation_dtype(), packed_dtype()}; }
  /// Returns new uninitialized memory with contiguous rows. Throws Error with the number of bytes
  /// if the allocation fails.
  virtual Buffer allocate(std::int64_t rows, std::int64_t cols, DType dtype) = 0;
  /// Returns [1, count] fp32 zeros for weights. Implementations may place weights in other memory
  /// than the rest.
  virtual Buffer allocate_weights(std::int64_t count) {
    Buffer memory = allocate(1, count, DType::kFloat32);
    zero(memory.view());
    return memory;
  }
  /// Returns the bytes that allocate() can still provide, if known. They are unknown for host
  /// memory, which all processes share.
  virtual std::optional<std::int64_t> free_bytes() const { return {}; }
  /// Returns the place of allocated memory. The host may access it only if it is host memory.
  virtual MemoryPlace place() const = 0;
  /// Returns `x`, whose rows must be contiguous, as an argument for collectives.
  DeviceSpan span(Tensor x) const { return {x.data, x.elements(), x.dtype, place()}; }
  /// Makes host integers readable by the operators until the next begin_pass(). The host memory
  /// must stay valid and unchanged until then.
  virtual Indices upload(std::span<const std::int32_t> host) = 0;
  virtual void begin_pass() = 0;
  virtual void zero(Tensor x) = 0;
  /// Copies between tensors of one shape. fp32 is rounded to bf16 as in common/base/dtype.h, and
  /// bf16 is widened to fp32.
  virtual void copy(Tensor from, Tensor to) = 0;
  /// Copies to contiguous rows on the host and waits for the device.
  virtual void copy_to_host(Tensor from, std::span<float> to) = 0;
  /// Starts copying drawn tokens to the host, with the values that all calls so far produce.
  virtual ReceiveTokens send_to_host(const DrawnTokens& drawn) = 0;
  virtual void copy_from_host(std::span<const float> from, Tensor to) = 0;

  /// Returns the CUDA graphs of one policy's decode steps, or null if replay gains nothing.
  virtual std::unique_ptr<CudaGraphs> cuda_graphs() { return nullptr; }
  /// Returns a sentence for each computation for which these operators choose between kernels: what
  /// is computed, by which kernel, and why. The first call checks the kernels for such heads, which
  /// takes seconds. Empty if there is no choice.
  virtual std::vector<std::string> choices(PassKind kind, const AttentionShape& heads) {
    static_cast<void>(kind), static_cast<void>(heads);
    return {};
  }

  // ---- Matmuls. A row of y depends on the same row of x alone.
  /// Creates a weight [out, in]. A fixed or frozen weight may be stored with fewer bytes if that
  /// changes no bit of a matmul. Throws Error if the operators have no NF4, or if an NF4 weight is
  /// not made of whole blocks.
  virtual std::unique_ptr<PackedWeight> make_weight(std::int64_t out, std::int64_t in,
                                                    WeightUse use = WeightUse::kTrained) = 0;
  /// Sets the rows [first_out, first_out + part.rows) of the weight from part [., in], fp32 with
  /// contiguous rows. Parts of an NF4 weight begin and end with a block.
  virtual void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) = 0;
  /// y = x W^T. y may be fp32 if x is bf16 (logits).
  virtual void linear(Tensor x, const PackedWeight& w, Tensor y) = 0;
  /// y = residual + x W^T. y may be residual.
  virtual void linear_add(Tensor x, const PackedWeight& w, Tensor residual, Tensor y) = 0;
  /// x[t] += bias [1, cols] in every row. x may be columns of a matmul's output.
  virtual void add_bias(Tensor x, Tensor bias) = 0;
  /// dbias [1, cols] += the sum of dy's rows in order. dbias is fp32.
  virtual void add_bias_backward(Tensor dy, Tensor dbias) = 0;
  /// dx = dy W. dy may be fp32 if dx is bf16 (logits), here and below. Throws Error if the
  /// weight is fixed.
  virtual void linear_backward_input(Tensor dy, PackedWeight& w, Tensor dx) = 0;
  /// dx += dy W, otherwise as linear_backward_input(). dy and dx have one dtype.
  virtual void linear_backward_input_add(Tensor dy, PackedWeight& w, Tensor dx) = 0;
  /// dw += dy^T x, [out, in] fp32. `starts` [S + 1] holds the first row of each sequence, then the
  /// end; empty means one sequence. The sum runs over rows in order, so that splitting the rows
  /// between calls changes no bits. Operators that sum by tiles of rows require splits between
  /// sequences or after a multiple of kTileOfRows rows of a sequence.
  virtual void linear_backward_weight(Tensor dy, Tensor x, std::span<const std::int32_t> starts,
                                      Tensor dw) = 0;

  /// x *= factor, element by element. x may be columns of a wider tensor.
  virtual void scale(Tensor x, float factor) = 0;

  // ---- Workers
  /// Returns operators that may be used concurrently, each on its own sequences, by a caller that
  /// reads `weights` elements of weights. The result is either this object alone or several
  /// single-threaded objects, whichever is faster. They use the same memory and are valid as long
  /// as this object.
  virtual std::vector<Operators*> workers(std::int64_t weights) {
    static_cast<void>(weights);
    return {this};
  }
  /// Calls work(i) for i in [0, count) concurrently; work(0) runs on the caller's thread. `count`
  /// must not exceed the number of workers. Rethrows the exception of the first failed call.
  virtual void run_workers(std::int64_t count, const std::function<void(std::int64_t)>& work) {
    for (std::int64_t i = 0; i < count; ++i) work(i);
  }
  /// Returns the number of tokens of one training pass that keeps the forward activations in caches
  /// until the backward pass, if the `weights` elements are cached, too.
  virtual std::int64_t most_pass_tokens(std::int64_t weights) const {
    static_cast<void>(weights);
    return std::numeric_limits<std::int64_t>::max();
  }

  // ---- Rows
  virtual void embed(Tensor table, Indices tokens, Tensor y) = 0;  // y[t] = table[tokens[t]]
  /// Embeds from a packed table, which is the head of a tied model.
  virtual void embed(const PackedWeight& table, Indices tokens, Tensor y) = 0;
  virtual void embed_backward(Tensor dy, Indices tokens,
                              Tensor dtable) = 0;  // dtable[tokens[t]] += dy[t], in order
  /// to[t] = tokens[t], or drawn[-1 - tokens[t]] if that is negative. All are [1, *] int32.
  virtual void look_up_drawn(Indices tokens, Tensor drawn, Tensor to) = 0;
  virtual void gather_rows(Tensor x, Indices rows, Tensor y) = 0;  // y[r] = x[rows[r]]
  virtual void scatter_rows(Tensor y, Indices rows,
                            Tensor x) = 0;  // x[rows[r]] = y[r], other rows 0
  /// y = x / rms(x) * weight. inverse_rms [1, T] is written unless empty.
  virtual void rms_norm(Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms) = 0;
  /// dx += ..., dweight [1, D] += ... (over rows in order) unless it is empty.
  virtual void rms_norm_backward(Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms, Tensor dx,
                                 Tensor dweight) = 0;
  /// gate_up [T, 2F] = [gate | up]; y = silu(gate) * up.
  virtual void swiglu(Tensor gate_up, Tensor y) = 0;
  /// Also recomputes y = swiglu(gate_up), so that the forward pass need not keep it for the
  /// gradient of the next weight.
  virtual void swiglu_backward(Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) = 0;

  // ---- Attention
  virtual void qk_norm_rope(Tensor qkv, const QkNormRope& how, Tensor rotated) = 0;
  /// Writes the query and key columns of d_qkv and overwrites d_rotated as scratch. dq_norm,
  /// dk_norm [1, E] += ... unless both are empty.
  virtual void qk_norm_rope_backward(Tensor d_rotated, Tensor qkv, const QkNormRope& how,
                                     Tensor d_qkv, Tensor dq_norm, Tensor dk_norm) = 0;
  /// Stores each row's rotated keys and its values in the slots `batch.slots`.
  virtual void store_kv(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                        const DecodeBatch& batch, KvPages pages) = 0;
  /// Calls qk_norm_rope() and store_kv() for the rows of a decode call. Only the queries of
  /// `rotated` are valid afterwards.
  virtual void rotate_and_store(Tensor qkv, const QkNormRope& how, Tensor rotated,
                                const DecodeBatch& batch, KvPages pages) {
    qk_norm_rope(qkv, how, rotated);
    store_kv(rotated, qkv, how.shape, batch, pages);
  }
  virtual void attention_decode(Tensor rotated, const AttentionShape& shape,
                                const DecodeBatch& batch, KvPages pages,
                                Tensor y) = 0;  // y [T, H*E]
  /// Causal attention within each sequence. log_sum [T, H] of the scaled scores is written unless
  /// empty.
  virtual void attention(Tensor rotated, Tensor qkv, const AttentionShape& shape,
                         const PackedSequences& sequences, Tensor y, Tensor log_sum) = 0;
  /// Writes all of d_rotated and the value columns of d_qkv.
  virtual void attention_backward(Tensor dy, Tensor rotated, Tensor qkv, Tensor y, Tensor log_sum,
                                  const AttentionShape& shape, const PackedSequences& sequences,
                                  Tensor d_rotated, Tensor d_qkv) = 0;

  // ---- Head. z = logits / temperature, computed as logits * (1 / temperature).
  /// log_probs[r] = z[target] - logsumexp(z), entropies[r] in nats, log_sum[r] = logsumexp(z). All
  /// are [1, R] fp32.
  virtual void log_probs(Tensor logits, Indices targets, float temperature, Tensor log_probs,
                         Tensor entropies, Tensor log_sum) = 0;
  /// Replaces the logits by d(loss)/d(logits), from d(loss)/d(log_probs) and d(loss)/d(entropies),
  /// [1, R] fp32.
  virtual void log_probs_backward(Tensor logits, Indices targets, float temperature,
                                  Tensor entropies, Tensor log_sum, Tensor d_log_probs,
                                  Tensor d_entropies) = 0;
  /// logits[rows[i], ids[j]] = -infinity for all i and j, so that no draw gives these tokens. Rows
  /// may occur more than once.
  virtual void bar(Tensor logits, Indices rows, Indices ids) = 0;
  /// Draws one token for each of `draws` from its row of logits [*, V] fp32. Writes the token's id
  /// and its log-prob over the whole vocabulary. The log-prob equals what log_probs() gives that
  /// row at the draw's temperature (1 for greedy draws). It is bit-identical for the CPU operators,
  /// and for ATen's in a call with the same number of rows. CPU and ATen draw the same id unless
  /// the uniform number is within rounding error of the border between two ids. If a row's
  /// log-sum-exp is not finite, neither is the log-prob.
  virtual void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) = 0;

  // ---- Optimizer. All tensors are fp32 with contiguous rows.
  /// to += from, element by element.
  virtual void add(Tensor from, Tensor to) = 0;
  /// sums[i] = the sum of squares, in double, of the elements [i * block, (i + 1) * block). The
  /// last block may be shorter.
  virtual void sums_of_squares(Tensor x, std::int64_t block, std::span<double> sums) = 0;
  virtual void adamw(const AdamWStep& how, const AdamWTensors& x) = 0;
};

/// Zeroed memory that several processes map, for weights that all of them compute with.
struct SharedFloats {
  std::span<float> memory;
  bool writes = false;  // this process writes and packs the weights, which the others only read
};

/// Returns operators that compute on the host's cores with `threads` >= 1 threads, including the
/// caller. Results are bit-identical for every number of threads and for both instruction sets,
/// AVX2 and AVX-512; the set is chosen at run time.
/// If `shared` is given, weights and packed weights are placed in it in the order of their
/// creation, which must be the same in all its processes. pack() does nothing in processes that do
/// not write. Throws Error, here or on a later allocation, if `shared` is too small.
/// With `matmul_dtype` kBFloat16, matmul operands are rounded to bf16 and sums are fp32. The
/// processor's matrix unit (AMX) is used if present, with bit-identical results without one.
std::unique_ptr<Operators> make_cpu_operators(int threads, const SharedFloats& shared = {},
                                              DType matmul_dtype = DType::kFloat32);

/// Returns whether the processor has a matrix unit (AMX). Without one, matmuls in bf16 are slower
/// than in fp32.
bool has_matrix_unit();

/// A list of integers on the host, and where its place in the operators' memory is written.
struct ListUpload {
  std::span<const std::int32_t> host;
  Indices* uploaded;
};

/// Uploads several lists at once, because each upload to a device is a separate transfer. They are
/// readable by the operators until the next begin_pass(). `joined` is the host memory of the
/// upload, the lists end to end; it must stay valid and unchanged until then.
inline void upload_together(Operators& operators, std::vector<std::int32_t>& joined,
                            std::span<const ListUpload> lists) {
  joined.clear();
  for (const ListUpload& list : lists) {
    joined.insert(joined.end(), list.host.begin(), list.host.end());
  }
  const Indices all = operators.upload(joined);
  std::int64_t first = 0;
  for (const ListUpload& list : lists) {
    *list.uploaded = all.from(first, std::ssize(list.host));
    first += std::ssize(list.host);
  }
}

}  // namespace lie
