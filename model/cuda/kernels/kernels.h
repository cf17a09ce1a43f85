// The row operators as kernels: each as the operator of its name in model/operators/operators.h, on
// tensors in the memory of the queue's device. A build without CUDA runs the same row functions on
// emulated lanes over host memory, whatever the queue. Calls do not wait.
#pragma once

#include <cstdint>
#include <span>

#include "model/cuda/queue.h"
#include "model/operators/operators.h"

namespace lie::cuda {

/// Whether this build emulates the kernels on the host.
bool kernels_are_emulated();

void rms_norm(const Queue& queue, Tensor x, Tensor weight, float eps, Tensor y, Tensor inverse_rms);
/// `partial`: as large as partial_sums() says, for the sums of dweight.
void rms_norm_backward(const Queue& queue, Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms,
                       Tensor dx, Tensor dweight, float* partial);
void swiglu(const Queue& queue, Tensor gate_up, Tensor y);
void swiglu_backward(const Queue& queue, Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y);
void qk_norm_rope(const Queue& queue, Tensor qkv, const QkNormRope& how, Tensor rotated);
/// `partial`: for the norms' gradients, of rows * heads rows of head_width.
void qk_norm_rope_backward(const Queue& queue, Tensor d_rotated, Tensor qkv, const QkNormRope& how,
                           Tensor d_qkv, Tensor dq_norm, Tensor dk_norm, float* partial);
void store_kv(const Queue& queue, Tensor rotated, Tensor qkv, const AttentionShape& shape,
              const DecodeBatch& batch, KvPages pages);
void rotate_and_store(const Queue& queue, Tensor qkv, const QkNormRope& how, Tensor rotated,
                      const DecodeBatch& batch, KvPages pages);
/// Floats that attention_decode() wants for a row of a batch whose longest has `longest` positions.
std::int64_t attention_decode_scratch(const AttentionShape& shape, std::int64_t longest);
/// Whether attention_decode() takes such heads and pages: it reads sixteen bytes of a key at once.
bool attention_decode_takes(const AttentionShape& shape, const KvPages& pages);
/// log_sum [T, H] of the scaled scores is kept unless empty.
void attention_decode(const Queue& queue, Tensor rotated, const AttentionShape& shape,
                      const DecodeBatch& batch, KvPages pages, float* scratch, Tensor y,
                      Tensor log_sum);
void embed(const Queue& queue, Tensor table, Indices tokens, Tensor y);
void embed_backward(const Queue& queue, Tensor dy, Indices tokens, Tensor dtable);
void log_probs(const Queue& queue, Tensor logits, Indices targets, float temperature,
               Tensor log_probs, Tensor entropies, Tensor log_sum);
void log_probs_backward(const Queue& queue, Tensor logits, Indices targets, float temperature,
                        Tensor entropies, Tensor log_sum, Tensor d_log_probs, Tensor d_entropies);
/// `draws` lie on the device too.
void sample(const Queue& queue, Tensor logits, std::span<const Draw> draws,
            const DrawnTokens& drawn);
/// sums [1, blocks] double, on the device.
void sums_of_squares(const Queue& queue, Tensor x, std::int64_t block, Tensor sums);
void adamw(const Queue& queue, const AdamWStep& how, const AdamWTensors& x);

/// Throws Error; for kernels.cu, whose compiler does not take fmt.
[[noreturn]] void fail_to(const char* what, const char* reason);

/// fp32 numbers that sums over so many rows leave between their two kernels.
std::int64_t partial_sums(std::int64_t rows, std::int64_t columns);

}  // namespace lie::cuda
