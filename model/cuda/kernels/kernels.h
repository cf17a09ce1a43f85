// The row operators as kernels. Each function computes the operator of the same name in
// model/operators/operators.h on tensors in the memory of the queue's device. A build without CUDA
// ignores the queue and runs the same row functions on emulated lanes over host memory. Calls are
// asynchronous.
#pragma once

#include <cstdint>
#include <span>

#include "model/cuda/queue.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Returns whether this build emulates the kernels on the host.
bool kernels_are_emulated();
/// Returns the number of multiprocessors of a device, or 1 if the kernels are emulated.
int multiprocessors(int device);

void rms_norm(const Queue& queue, Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms);
/// `partial` is scratch of partial_sums() floats for the sums of dweight.
void rms_norm_backward(const Queue& queue, Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms,
                       Tensor dx, Tensor dweight, float* partial);
void swiglu(const Queue& queue, Tensor gate_up, Tensor y);
void swiglu_backward(const Queue& queue, Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y);
void qk_norm_rope(const Queue& queue, Tensor qkv, const QkNormRope& how, Tensor rotated);
/// `partial` is scratch for the norms' gradients, sums over rows * heads rows of head_width.
void qk_norm_rope_backward(const Queue& queue, Tensor d_rotated, Tensor qkv, const QkNormRope& how,
                           Tensor d_qkv, Tensor dq_norm, Tensor dk_norm, float* partial);
void store_kv(const Queue& queue, Tensor rotated, Tensor qkv, const AttentionShape& shape,
              const DecodeBatch& batch, KvPages pages);
void rotate_and_store(const Queue& queue, Tensor qkv, const QkNormRope& how, Tensor rotated,
                      const DecodeBatch& batch, KvPages pages);
/// Returns the scratch floats of attention_decode() per row of a batch whose longest row has
/// `longest` positions.
std::int64_t attention_decode_scratch(const AttentionShape& shape, std::int64_t longest);
/// Returns whether attention_decode() supports such heads and pages: widths that are a multiple of
/// 8, up to 128, and aligned pages.
bool attention_decode_supports(const AttentionShape& shape, const KvPages& pages);
/// Throws Error unless attention_decode_supports().
void require_attention_decode(const AttentionShape& shape, const KvPages& pages);
/// log_sum [T, H] of the scaled scores is written unless empty.
void attention_decode(const Queue& queue, Tensor rotated, const AttentionShape& shape,
                      const DecodeBatch& batch, KvPages pages, float* scratch, Tensor y,
                      Tensor log_sum);
/// Returns whether matmul_few_rows() supports these tensors: bf16 factors, at most kFewRows rows
/// that are aligned, and widths that are multiples of 32 and 16.
constexpr std::int64_t kFewRows = 64;
bool few_rows_support(Tensor x, Tensor weight, Tensor y);
/// y = x W^T, plus `residual` unless it is empty. It may be y. The bits of a row do not depend on
/// other rows.
void matmul_few_rows(const Queue& queue, Tensor x, Tensor weight, Tensor residual, Tensor y);
void embed(const Queue& queue, Tensor table, Indices tokens, Tensor y);
/// `links` is scratch of one integer per token.
void embed_backward(const Queue& queue, Tensor dy, Indices tokens, std::int32_t* links,
                    Tensor dtable);
/// Returns the scratch floats of log_probs() per row.
std::int64_t log_probs_scratch(std::int64_t vocabulary);
void log_probs(const Queue& queue, Tensor logits, Indices targets, float temperature,
               float* scratch, Tensor log_probs, Tensor entropies, Tensor log_sum);
void log_probs_backward(const Queue& queue, Tensor logits, Indices targets, float temperature,
                        Tensor entropies, Tensor log_sum, Tensor d_log_probs, Tensor d_entropies);
/// Returns the scratch floats of sample() per draw.
std::int64_t sample_scratch(std::int64_t vocabulary);
/// `draws` must be in device memory, too. `scratch` is aligned to eight bytes.
void sample(const Queue& queue, Tensor logits, std::span<const Draw> draws, float* scratch,
            const DrawnTokens& drawn);
/// sums [1, blocks] is double, in device memory.
void sums_of_squares(const Queue& queue, Tensor x, std::int64_t block, Tensor sums);
void adamw(const Queue& queue, const AdamWStep& how, const AdamWTensors& x);

/// An NF4 weight, or rows of it, in device memory. `values` is a copy of nf4::kValues.
struct Nf4Rows {
  std::uint8_t* codes;
  float* scales;
  const float* values;
};
/// Quantizes weights [rows, in], fp32 with contiguous rows.
void quantize_nf4(const Queue& queue, Tensor weights, const Nf4Rows& to);
/// Dequantizes to weights [rows, in] with contiguous rows, in fp32 or rounded to bf16.
void dequantize_nf4(const Queue& queue, const Nf4Rows& from, Tensor weights);

/// Throws Error. kernels.cu needs this function because its compiler does not accept fmt.
[[noreturn]] void fail_to(const char* what, const char* reason);

/// Returns the number of partial sums (floats) of a sum over `rows` rows, which is computed in two
/// kernels.
std::int64_t partial_sums(std::int64_t rows, std::int64_t columns);

}  // namespace lie::cuda
