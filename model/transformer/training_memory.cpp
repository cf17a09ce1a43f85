#include "model/transformer/training_memory.h"

#include <bit>

#include "model/config/parameter_layout.h"
#include "model/layers/attention.h"

namespace lie {
namespace {

constexpr std::int64_t kMinRows = 2 * Operators::kTileOfRows;

/// Returns the largest number of rows in one chunk of logits if backward() follows.
std::int64_t kept_chunk_rows(std::int64_t vocabulary, std::int64_t bytes) {
  constexpr std::int64_t kMax = std::int64_t{64} << 20;
  constexpr std::int64_t kShare = 8;  // a chunk has at most 1/8 of the memory
  return std::min(kMax, bytes / kShare / dtype_bytes(DType::kFloat32)) / vocabulary;
}

/// Returns the same for a forward-only pass, whose logits get the `left` bytes. Each chunk reads
/// the head's weights once, which takes no noticeable time beyond kMaxRows. A power of two keeps
/// the chunks of two runs equal where their free memory differs a little.
std::int64_t forward_chunk_rows(std::int64_t vocabulary, std::int64_t left) {
  constexpr std::int64_t kLeast = std::int64_t{8} << 20;  // logits
  constexpr std::int64_t kMaxRows = 1024;
  const std::int64_t fitting = left / dtype_bytes(DType::kFloat32) / vocabulary;
  const auto rows = static_cast<std::uint64_t>(std::clamp<std::int64_t>(fitting, 0, kMaxRows));
  return std::max(kLeast / vocabulary, static_cast<std::int64_t>(std::bit_floor(rows)));
}

/// Places tensors one after the other in a block of memory. With a null `memory` it only adds up
/// their bytes.
struct BumpAllocator {
  char* memory = nullptr;
  std::int64_t at = 0;

  Tensor operator()(std::int64_t rows, std::int64_t cols, DType dtype) {
    constexpr std::int64_t kAlignment = 256;
    void* const data = memory == nullptr ? nullptr : memory + at;
    const std::int64_t bytes = rows * cols * dtype_bytes(dtype);
    at += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return {data, rows, cols, cols, dtype};
  }
};

KeptTensors allocate_layer(BumpAllocator& allocate, const AttentionShape& shape,
                           std::int64_t tokens, std::int64_t width, std::int64_t ffn_width,
                           DType activations) {
  KeptTensors t;
  t.inverse_rms_1 = allocate(1, tokens, DType::kFloat32);
  t.qkv = allocate(tokens, shape.qkv_cols(), activations);
  t.attended = allocate(tokens, shape.q_cols(), activations);
  t.log_sum = allocate(tokens, shape.heads, DType::kFloat32);
  t.middle = allocate(tokens, width, activations);
  t.inverse_rms_2 = allocate(1, tokens, DType::kFloat32);
  t.gate_up = allocate(tokens, 2 * ffn_width, activations);
  return t;
}

std::int64_t bytes_of(std::int64_t rows, std::int64_t cols, DType dtype) {
  BumpAllocator allocate;
  allocate(rows, cols, dtype);
  return allocate.at;
}

}  // namespace

void PassLayout::Places::grow(std::int64_t& left) {
  const std::int64_t more =
      std::clamp<std::int64_t>(left / std::max<std::int64_t>(bytes, 1), 0, count - places);
  places += more;
  left -= more * bytes;
}

PassLayout::PassLayout(const ModelConfig& config, DType activations, const PassSize& size,
                       std::int64_t bytes)
    : shape_(attention_shape(config)),
      activations_(activations),
      tokens_(size.tokens),
      width_(config.width),
      ffn_width_(config.ffn_width),
      vocabulary_(config.vocabulary) {
  const std::int64_t streams = config.layers + 1;
  BumpAllocator layer;
  allocate_layer(layer, shape_, tokens_, width_, ffn_width_, activations);
  streams_ = {streams, size.kept ? streams : 1, bytes_of(tokens_, width_, activations)};
  layers_ = {config.layers, 1, layer.at};
  rotations_ = {config.layers, 1,
                bytes_of(tokens_, shape_.q_cols() + shape_.kv_cols(), activations_)};
  const std::int64_t most_rows = size.kept ? kept_chunk_rows(vocabulary_, bytes)
                                           : forward_chunk_rows(vocabulary_, bytes - this->bytes());
  chunk_rows_ = std::clamp<std::int64_t>(most_rows, kMinRows, std::max(size.rows, kMinRows));
  // A chunk that ends within a sequence may be shorter by up to kTileOfRows - 1 rows.
  const std::int64_t least_rows = chunk_rows_ - Operators::kTileOfRows + 1;
  const std::int64_t chunks =
      size.rows <= chunk_rows_ ? 1 : (size.rows + least_rows - 1) / least_rows;
  chunks_ = {chunks, 1, bytes_of(chunk_rows_, vocabulary_, DType::kFloat32)};
  if (!size.kept) return;
  std::int64_t left = std::max<std::int64_t>(bytes - this->bytes(), 0);
  layers_.grow(left);
  chunks_.grow(left);
  rotations_.grow(left);
}

std::int64_t PassLayout::bytes() const {
  return streams_.all() + layers_.all() + chunks_.all() + rotations_.all();
}

bool PassLayout::recomputes_layer(std::int64_t layer) const {
  return layers_.shares(layer) && layer + 1 < layers_.count;
}

std::int64_t PassLayout::recomputed_layers() const { return layers_.count - layers_.places; }

Tensor PassLayout::stream(void* memory, std::int64_t before_layer) const {
  BumpAllocator allocate{static_cast<char*>(memory), streams_.at(before_layer)};
  return allocate(tokens_, width_, activations_);
}

KeptTensors PassLayout::layer(void* memory, std::int64_t layer) const {
  BumpAllocator allocate{static_cast<char*>(memory), streams_.all() + layers_.at(layer)};
  return allocate_layer(allocate, shape_, tokens_, width_, ffn_width_, activations_);
}

Tensor PassLayout::logits(void* memory, std::int64_t chunk) const {
  BumpAllocator allocate{static_cast<char*>(memory),
                         streams_.all() + layers_.all() + chunks_.at(chunk)};
  return allocate(chunk_rows_, vocabulary_, DType::kFloat32);
}

Tensor PassLayout::rotated(void* memory, std::int64_t layer) const {
  BumpAllocator allocate{static_cast<char*>(memory),
                         streams_.all() + layers_.all() + chunks_.all() + rotations_.at(layer)};
  return allocate(tokens_, shape_.q_cols() + shape_.kv_cols(), activations_);
}

std::int64_t shared_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations) {
  const AttentionShape shape = attention_shape(config);
  const std::int64_t rotated = shape.q_cols() + shape.kv_cols();
  const std::int64_t forward = 3 * config.width + config.ffn_width;
  const std::int64_t backward =
      4 * config.width + 3 * config.ffn_width + shape.qkv_cols() + rotated + shape.q_cols();
  return tokens * (forward + backward + 2 * low_rank_cols(config)) * dtype_bytes(activations);
}

PassLayout layout_within(const ModelConfig& config, DType activations, const PassSize& size,
                         std::int64_t bytes) {
  return {config, activations, size, bytes - shared_pass_bytes(config, size.tokens, activations)};
}

std::optional<PassLayout> layout_in_cache(const ModelConfig& config, DType activations,
                                          const PassSize& size, std::int64_t cache_bytes,
                                          std::int64_t available) {
  const PassLayout layout(config, activations, size, cache_bytes);
  const bool recomputes = size.kept && layout.recomputed_layers() > 0;
  if (layout.bytes() > cache_bytes || (recomputes && available > cache_bytes)) return std::nullopt;
  return layout;
}

std::int64_t training_pass_bytes(const ModelConfig& config, std::int64_t tokens, DType activations,
                                 std::int64_t bytes) {
  return shared_pass_bytes(config, tokens, activations) +
         layout_within(config, activations, {tokens, tokens}, bytes).bytes();
}

}  // namespace lie
