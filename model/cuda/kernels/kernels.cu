#include "model/cuda/kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <type_traits>

#include "model/cuda/kernels/decode_attention.h"
#include "model/cuda/kernels/few_rows.h"
#include "model/cuda/kernels/head/draws.h"
#include "model/cuda/kernels/head/log_probs.h"
#include "model/cuda/kernels/head/softmax.h"
#include "model/cuda/kernels/launch.h"
#include "model/cuda/kernels/nf4.h"
#include "model/cuda/kernels/optimizer.h"
#include "model/cuda/kernels/rows/embedding.h"
#include "model/cuda/kernels/rows/heads.h"
#include "model/cuda/kernels/rows/kv_places.h"
#include "model/cuda/kernels/rows/norm.h"
#include "model/cuda/kernels/rows/sums.h"
#include "model/cuda/kernels/rows/swiglu.h"
#include "model/operators/prefill.h"

namespace lie::cuda {
namespace {

template <typename T>
Rows<T> rows(const Tensor& x) {
  return {static_cast<T*>(x.data), x.stride};
}
float* floats(const Tensor& x) { return static_cast<float*>(x.data); }

/// Calls f with a zero of the given dtype.
template <typename F>
void by_dtype(DType dtype, const F& f) {
  dtype == DType::kBFloat16 ? f(BFloat16{}) : f(0.0f);
}

/// Returns whether all rows are aligned to packs of `size` columns, and as wide.
bool aligned(int size, std::int64_t width, std::initializer_list<Tensor> all) {
  return width % size == 0 && std::ranges::all_of(all, [](const Tensor& x) {
           const bool rows_are = x.rows <= 1 || x.stride * dtype_bytes(x.dtype) % 16 == 0;
           return rows_are && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
         });
}

/// Calls body(row, column, Count<N>()) for all columns, a pack at a time if `all` are aligned.
template <typename Body>
void for_packs(const Queue& queue, std::int64_t rows, std::int64_t width,
               std::initializer_list<Tensor> all, const Body& body) {
  const OverPacks<Body> packs{body, width, aligned(Body::kSize, width, all)};
  for_elements(queue, rows * packs.packs(), packs);
}

/// sums [columns] += the terms of all rows.
template <typename Terms>
void add_rows(const Queue& queue, const Terms& terms, std::int64_t rows, std::int64_t columns,
              float* sums, float* partial) {
  const std::int64_t blocks = row_blocks_of(rows);
  for_elements(queue, blocks * columns, RowBlockSums<Terms>{terms, rows, columns, sums, partial});
  if (blocks > 1) for_elements(queue, columns, AddRowBlocks{blocks, columns, sums, partial});
}

HeadRotation rotation_of(const lie::QkNormRope& how) {
  return {how.shape.heads,    how.shape.kv_heads, how.shape.head_width,
          floats(how.q_norm), floats(how.k_norm), how.eps,
          floats(how.rope),   how.positions.data};
}

/// Returns whether packs of `size` columns of a half head are aligned, in all tensors that it
/// takes.
bool aligned_heads(int size, const lie::QkNormRope& how, std::initializer_list<Tensor> all) {
  const std::int64_t half = how.shape.head_width / 2;
  return aligned(size, half, all) && aligned(size, half, {how.q_norm, how.k_norm, how.rope});
}

/// Runs a norm on tiles of rows, which share a block's waits. Few rows get a block each, so that
/// all multiprocessors have work.
template <typename Norm>
void for_tiles(const Queue& queue, Norm norm) {
  constexpr std::int64_t kTileBytes = 36 * 1024;  // six blocks at once on a multiprocessor of sm_90
  if (norm.rows > 4 * std::int64_t{multiprocessors_of(queue.device)}) {
    norm.tile_rows = std::clamp<std::int64_t>(kTileBytes / norm.shared_bytes_of_row(), 1, 16);
  }
  for_blocks(queue, RowTile::tiles(norm.rows, norm.tile_rows), norm);
}

template <typename T>
KvPlaces<T> places_of(const AttentionShape& shape, const DecodeBatch& batch, KvPages pages) {
  return {shape.kv_heads, shape.head_width, Operators::kPageTokens,
          pages.layer,    batch.slots.data, rows<T>(pages.pool)};
}

/// Computes what SoftmaxParts::softmax() needs of `count` rows.
template <typename ZOf>
void sum_parts(const Queue& queue, const ZOf& z_of, const SoftmaxParts& parts, std::int64_t count) {
  for_rows(queue, count * parts.count, LargestOfParts<ZOf>{z_of, parts});
  for_rows(queue, count * parts.count, SumsOfParts<ZOf>{z_of, parts});
}

}  // namespace

bool kernels_are_emulated() { return kEmulated; }
int multiprocessors(int device) { return multiprocessors_of(device); }

std::int64_t partial_sums(std::int64_t rows, std::int64_t columns) {
  return (row_blocks_of(rows) - 1) * columns;
}

void rms_norm(const Queue& queue, Tensor x, Tensor weight, float eps, Tensor y,
              Tensor inverse_rms) {
  by_dtype(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_tiles(queue,
              RmsNorm<T>{rows<const T>(x), floats(weight), x.cols, eps, rows<T>(y),
                         floats(inverse_rms), aligned(kPack<T>, x.cols, {x, weight, y}), x.rows});
  });
}

void rms_norm_backward(const Queue& queue, Tensor dy, Tensor x, Tensor weight, Tensor inverse_rms,
                       Tensor dx, Tensor dweight, float* partial) {
  by_dtype(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_tiles(queue, RmsNormBackward<T>{rows<const T>(dy), rows<const T>(x), floats(weight),
                                        floats(inverse_rms), x.cols, rows<T>(dx),
                                        aligned(kPack<T>, x.cols, {dy, x, weight, dx}), x.rows});
    if (dweight.empty()) return;
    add_rows(queue, NormWeightTerms<T>{rows<const T>(dy), rows<const T>(x), floats(inverse_rms)},
             x.rows, x.cols, floats(dweight), partial);
  });
}

bool few_rows_support(Tensor x, Tensor weight, Tensor y) {
  using Matmul = FewRows<1, float>;
  return x.dtype == DType::kBFloat16 && weight.dtype == DType::kBFloat16 && x.rows > 0 &&
         x.rows <= kFewRows && x.cols % Matmul::kColumns == 0 &&
         weight.rows % Matmul::kOutputs == 0 && aligned(8, x.cols, {x, weight}) && y.stride >= 1;
}

void matmul_few_rows(const Queue& queue, Tensor x, Tensor weight, Tensor residual, Tensor y) {
  const auto run = [&]<int kTiles>(Count<kTiles>) {
    by_dtype(y.dtype, [&](auto zero) {
      using Y = decltype(zero);
      const FewRows<kTiles, Y> matmul{rows<const BFloat16>(x),
                                      rows<const BFloat16>(weight),
                                      rows<const BFloat16>(residual),
                                      rows<Y>(y),
                                      x.rows,
                                      x.cols,
                                      weight.rows};
      for_blocks(queue, matmul.items(), matmul);
    });
  };
  if (x.rows <= 8) return run(Count<1>());
  if (x.rows <= 16) return run(Count<2>());
  x.rows <= 32 ? run(Count<4>()) : run(Count<8>());
}

void swiglu(const Queue& queue, Tensor gate_up, Tensor y) {
  by_dtype(y.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Tensor up = gate_up.cols_at(y.cols, y.cols);
    for_packs(queue, y.rows, y.cols, {gate_up, up, y},
              Swiglu<T>{rows<const T>(gate_up), rows<const T>(up), rows<T>(y)});
  });
}

void swiglu_backward(const Queue& queue, Tensor dy, Tensor gate_up, Tensor d_gate_up, Tensor y) {
  by_dtype(dy.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Tensor up = gate_up.cols_at(dy.cols, dy.cols), d_up = d_gate_up.cols_at(dy.cols, dy.cols);
    for_packs(queue, dy.rows, dy.cols, {dy, gate_up, up, d_gate_up, d_up, y},
              SwigluBackward<T>{rows<const T>(dy), rows<const T>(gate_up), rows<const T>(up),
                                rows<T>(d_gate_up), rows<T>(d_up), rows<T>(y)});
  });
}

void qk_norm_rope(const Queue& queue, Tensor qkv, const lie::QkNormRope& how, Tensor rotated) {
  by_dtype(qkv.dtype, [&](auto zero) {
    using T = decltype(zero);
    const QkNormRope<T> all{rotation_of(how), rows<const T>(qkv),
                            rows<T>(rotated), {},
                            qkv.rows,         aligned_heads(kPack<T>, how, {qkv, rotated})};
    for_blocks(queue, all.tiles(), all);
  });
}

void qk_norm_rope_backward(const Queue& queue, Tensor d_rotated, Tensor qkv,
                           const lie::QkNormRope& how, Tensor d_qkv, Tensor dq_norm, Tensor dk_norm,
                           float* partial) {
  const HeadRotation rotation = rotation_of(how);
  by_dtype(qkv.dtype, [&](auto zero) {
    using T = decltype(zero);
    const QkNormRopeBackward<T> all{
        rotation,       rows<const T>(qkv), rows<T>(d_rotated),
        rows<T>(d_qkv), qkv.rows,           aligned_heads(kPack<T>, how, {qkv, d_rotated, d_qkv})};
    for_blocks(queue, all.tiles(), all);
    if (dq_norm.empty()) return;
    const auto add_heads = [&](Tensor shares, std::int64_t heads, Tensor sum) {
      add_rows(queue, HeadTerms<T>{rows<const T>(shares), heads, rotation.width}, qkv.rows * heads,
               rotation.width, floats(sum), partial);
    };
    add_heads(d_rotated, rotation.heads, dq_norm);
    add_heads(d_rotated.cols_at(how.shape.q_cols(), how.shape.kv_cols()), rotation.kv_heads,
              dk_norm);
  });
}

void store_kv(const Queue& queue, Tensor rotated, Tensor qkv, const AttentionShape& shape,
              const DecodeBatch& batch, KvPages pages) {
  const std::int64_t q = shape.q_cols(), kv = shape.kv_cols();
  const Tensor keys = rotated.cols_at(q, kv), values = qkv.cols_at(q + kv, kv);
  by_dtype(qkv.dtype, [&](auto zero) {
    using T = decltype(zero);
    const bool whole = shape.head_width % kPack<T> == 0;  // no pack spans two heads
    const OverPacks<StoreKv<T>> packs{
        {rows<const T>(keys), rows<const T>(values), places_of<T>(shape, batch, pages)},
        kv,
        whole && aligned(kPack<T>, kv, {keys, values, pages.pool})};
    for_elements(queue, rotated.rows * packs.packs(), packs);
  });
}

void rotate_and_store(const Queue& queue, Tensor qkv, const lie::QkNormRope& how, Tensor rotated,
                      const DecodeBatch& batch, KvPages pages) {
  by_dtype(qkv.dtype, [&](auto zero) {
    using T = decltype(zero);
    const QkNormRope<T> all{
        rotation_of(how), rows<const T>(qkv),
        rows<T>(rotated), places_of<T>(how.shape, batch, pages),
        qkv.rows,         aligned_heads(kPack<T>, how, {qkv, rotated, pages.pool})};
    for_blocks(queue, all.tiles(), all);
  });
}

std::int64_t attention_decode_scratch(const AttentionShape& shape, std::int64_t longest) {
  using Attention = PagedAttention<float>;
  return Attention::scratch(shape.heads, shape.head_width, Attention::most_splits(longest));
}

bool attention_decode_supports(const AttentionShape& shape, const KvPages& pages) {
  constexpr std::int64_t kElements = 8;
  return shape.head_width % kElements == 0 && shape.head_width <= kLanes * kElements &&
         pages.pool.stride % kElements == 0 &&
         reinterpret_cast<std::uintptr_t>(pages.pool.data) % 16 == 0;
}

namespace {

/// Calls f with the least number of query heads that the kernel handles at once for this group, as
/// a constant.
template <typename F>
void by_group(std::int64_t group, const F& f) {
  group <= 2
      ? f(std::integral_constant<int, 2>())
      : (group <= 4 ? f(std::integral_constant<int, 4>()) : f(std::integral_constant<int, 8>()));
}

/// Attends to the splits of some rows. `shares`: they are adjacent positions of one sequence, so
/// that as many of them share a block as registers suffice for.
template <typename T>
void attend_splits(const Queue& queue, const PagedAttention<T>& all, const PagedRows& rows,
                   bool shares) {
  by_group(all.heads / all.kv_heads, [&](auto heads) {
    constexpr int kHeads = heads.value;
    const auto launch = [&](const auto& splits) { for_blocks(queue, splits.items(), splits); };
    const auto by_columns = [&]<int kRows>(Count<kRows>) {
      all.width <= 4 * kLanes ? launch(PagedSplits<T, kHeads, 4, kRows>{all, rows})
                              : launch(PagedSplits<T, kHeads, 8, kRows>{all, rows});
    };
    shares ? by_columns(Count<8 / kHeads>()) : by_columns(Count<1>());
  });
}

}  // namespace

void attention_decode(const Queue& queue, Tensor rotated, const AttentionShape& shape,
                      const DecodeBatch& batch, KvPages pages, float* scratch, Tensor y,
                      Tensor log_sum) {
  by_dtype(y.dtype, [&](auto zero) {
    using T = decltype(zero);
    using Attention = PagedAttention<T>;
    const std::int64_t splits = Attention::most_splits(batch.longest);
    const Attention all{rows<const T>(rotated),
                        rows<const T>(pages.pool),
                        rows<T>(y),
                        shape.heads,
                        shape.kv_heads,
                        shape.head_width,
                        pages.layer,
                        batch.positions.data,
                        batch.sequences.data,
                        batch.table.data,
                        batch.table_width,
                        splits,
                        1.0f / std::sqrt(static_cast<float>(shape.head_width)),
                        scratch,
                        scratch + rotated.rows * shape.heads * splits * shape.head_width,
                        rows<float>(log_sum)};
    const auto attend_alone = [&](std::int64_t first, std::int64_t end) {
      if (first < end) attend_splits(queue, all, {first, end - first}, /*shares=*/false);
    };
    std::int64_t done = 0;
    for (const Prefill& prefill : prefills_of(batch)) {
      attend_alone(done, prefill.first);
      attend_splits(queue, all, {prefill.first, prefill.rows, prefill.position}, /*shares=*/true);
      done = prefill.end();
    }
    attend_alone(done, rotated.rows);
    if (splits > 1) for_elements(queue, y.elements(), PagedJoin<T>{all});
  });
}

void embed(const Queue& queue, Tensor table, Indices tokens, Tensor y) {
  by_dtype(table.dtype, [&](auto from) {
    by_dtype(y.dtype, [&](auto to) {
      using From = decltype(from);
      using T = decltype(to);
      for_packs(queue, y.rows, y.cols, {table, y},
                Embed<From, T>{rows<const From>(table), tokens.data, rows<T>(y)});
    });
  });
}

void embed_backward(const Queue& queue, Tensor dy, Indices tokens, std::int32_t* links,
                    Tensor dtable) {
  const auto count = static_cast<std::int32_t>(dy.rows);
  for_rows(queue, dy.rows, LinkRows{tokens.data, count, links});
  by_dtype(dy.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_packs(queue, dy.rows, dy.cols, {dy, dtable},
              EmbedBackward<T>{rows<const T>(dy), tokens.data, links, count, rows<float>(dtable)});
  });
}

std::int64_t log_probs_scratch(std::int64_t vocabulary) {
  return SoftmaxParts::floats_per_row(vocabulary);
}

void log_probs(const Queue& queue, Tensor logits, Indices targets, float temperature,
               float* scratch, Tensor log_probs, Tensor entropies, Tensor log_sum) {
  const LogitRows z_of{rows<const float>(logits), logits.cols, 1.0f / temperature};
  const SoftmaxParts parts(scratch, logits.rows, logits.cols);
  sum_parts(queue, z_of, parts, logits.rows);
  for_blocks(
      queue, logits.rows,
      LogProbs{z_of, parts, targets.data, floats(log_probs), floats(entropies), floats(log_sum)});
}

void log_probs_backward(const Queue& queue, Tensor logits, Indices targets, float temperature,
                        Tensor entropies, Tensor log_sum, Tensor d_log_probs, Tensor d_entropies) {
  for_packs(
      queue, logits.rows, logits.cols, {logits},
      LogProbsBackward{rows<float>(logits), targets.data, 1.0f / temperature, floats(entropies),
                       floats(log_sum), floats(d_log_probs), floats(d_entropies)});
}

std::int64_t sample_scratch(std::int64_t vocabulary) {
  const std::int64_t blocks = DrawRows{{}, vocabulary, nullptr, nullptr}.blocks();
  return 2 * blocks + static_cast<std::int64_t>(sizeof(LikelyTokens)) / 4 + 1 +
         SoftmaxParts::floats_per_row(vocabulary);
}

void sample(const Queue& queue, Tensor logits, std::span<const Draw> draws, float* scratch,
            const DrawnTokens& drawn) {
  const std::int64_t count = std::ssize(draws);
  DrawRows of_draws{rows<const float>(logits), logits.cols, draws.data(), nullptr};
  auto* const sums = reinterpret_cast<double*>(scratch);
  auto* const found = reinterpret_cast<LikelyTokens*>(sums + of_draws.blocks() * count);
  of_draws.log_sums = reinterpret_cast<float*>(found + count);
  const SoftmaxParts parts(of_draws.log_sums + count, count, logits.cols);
  sum_parts(queue, of_draws, parts, count);
  for_blocks(queue, count, DrawLogSums{of_draws, parts, found});
  const DrawSums of_blocks{of_draws, sums};
  for_blocks(queue, count * of_blocks.items_per_draw(), of_blocks);
  const FindLikely likely{of_draws, parts, found};
  for_blocks(queue, count * likely.items_per_draw(), likely);
  for_blocks(queue, count,
             DrawTokens{of_draws, parts, sums, found, static_cast<std::int32_t*>(drawn.ids.data),
                        floats(drawn.log_probs)});
}

void sums_of_squares(const Queue& queue, Tensor x, std::int64_t block, Tensor sums) {
  for_rows(queue, sums.elements(),
           SumsOfSquares{floats(x), x.elements(), block, static_cast<double*>(sums.data)});
}

void adamw(const Queue& queue, const AdamWStep& how, const AdamWTensors& x) {
  const std::int64_t count = x.weights.elements();
  if (x.first.dtype == DType::kBFloat16) {
    return for_elements(queue, count,
                        AdamW<BFloat16>{how, floats(x.gradient), floats(x.weights),
                                        static_cast<BFloat16*>(x.first.data),
                                        static_cast<BFloat16*>(x.second.data)});
  }
  for_elements(
      queue, count,
      AdamW<float>{how, floats(x.gradient), floats(x.weights), floats(x.first), floats(x.second)});
}

void quantize_nf4(const Queue& queue, Tensor weights, const Nf4Rows& to) {
  for_elements(queue, weights.elements() / nf4::kBlock,
               QuantizeNf4{floats(weights), to.values, to.codes, to.scales});
}

void dequantize_nf4(const Queue& queue, const Nf4Rows& from, Tensor weights) {
  by_dtype(weights.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_elements(
        queue, weights.elements() / kPack<T>,
        DequantizeNf4<T>{from.codes, from.scales, from.values, static_cast<T*>(weights.data)});
  });
}

}  // namespace lie::cuda
