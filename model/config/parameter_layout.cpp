#include "model/config/parameter_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::int64_t kAlignment = 16;  // elements: one cache line of fp32

using enum ParameterRole;

/// Collects parameters one after the other, each at an aligned offset.
class LayoutBuilder {
 public:
  /// Begins a layer, whose parameters have its prefix, or the parameters outside of all layers.
  void begin(std::int64_t layer) {
    layer_ = layer;
    prefix_ = layer == kNoLayer ? "" : fmt::format("model.layers.{}.", layer);
  }
  void matrix(ParameterRole role, std::string_view name, std::int64_t rows, std::int64_t cols) {
    add({.name = std::string(name), .rows = rows, .cols = cols, .decay = true, .role = role});
  }
  void vector(ParameterRole role, std::string_view name, std::int64_t cols) {
    add({.name = std::string(name), .rows = 1, .cols = cols, .decay = false, .role = role});
  }
  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  void add(Parameter parameter) {
    parameter.name = prefix_ + parameter.name;
    parameter.layer = layer_;
    parameter.offset = next_;
    next_ += parameter.rows * parameter.cols;
    next_ = (next_ + kAlignment - 1) / kAlignment * kAlignment;
    parameters_.push_back(std::move(parameter));
  }

  std::int64_t layer_ = kNoLayer;
  std::string prefix_;
  std::int64_t next_ = 0;
  std::vector<Parameter> parameters_;
};

void add_attention(LayoutBuilder& layout, const ModelConfig& config) {
  const std::int64_t q = config.heads * config.head_width;
  const std::int64_t kv = config.kv_heads * config.head_width, width = config.width;
  layout.matrix(kQuery, "self_attn.q_proj.weight", q, width);
  if (config.qkv_bias) layout.vector(kQueryBias, "self_attn.q_proj.bias", q);
  layout.matrix(kKey, "self_attn.k_proj.weight", kv, width);
  if (config.qkv_bias) layout.vector(kKeyBias, "self_attn.k_proj.bias", kv);
  layout.matrix(kValue, "self_attn.v_proj.weight", kv, width);
  if (config.qkv_bias) layout.vector(kValueBias, "self_attn.v_proj.bias", kv);
  layout.matrix(kOutput, "self_attn.o_proj.weight", width, q);
  if (config.output_bias) layout.vector(kOutputBias, "self_attn.o_proj.bias", width);
  if (!config.qk_norm) return;
  layout.vector(kQueryNorm, "self_attn.q_norm.weight", config.head_width);
  layout.vector(kKeyNorm, "self_attn.k_norm.weight", config.head_width);
}

void add_layer(LayoutBuilder& layout, const ModelConfig& config, std::int64_t layer) {
  layout.begin(layer);
  layout.vector(kInputNorm, "input_layernorm.weight", config.width);
  add_attention(layout, config);
  layout.vector(kPostNorm, "post_attention_layernorm.weight", config.width);
  layout.matrix(kGate, "mlp.gate_proj.weight", config.ffn_width, config.width);
  layout.matrix(kUp, "mlp.up_proj.weight", config.ffn_width, config.width);
  layout.matrix(kDown, "mlp.down_proj.weight", config.width, config.ffn_width);
}

}  // namespace

std::vector<Parameter> parameter_layout(const ModelConfig& config) {
  LayoutBuilder layout;
  layout.begin(kNoLayer);
  layout.matrix(kEmbedding, "model.embed_tokens.weight", config.vocabulary, config.width);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) add_layer(layout, config, layer);
  layout.begin(kNoLayer);
  layout.vector(kFinalNorm, "model.norm.weight", config.width);
  if (!config.tied_embeddings) {
    layout.matrix(kHead, kHeadName, config.vocabulary, config.width);
  }
  return layout.take();
}

const Parameter& parameter_of(std::span<const Parameter> layout, std::int64_t layer,
                              ParameterRole role) {
  const auto found = std::ranges::find_if(layout, [&](const Parameter& parameter) {
    return parameter.layer == layer && parameter.role == role;
  });
  if (found == layout.end()) {
    fail("the model has no parameter of role {} in layer {}", static_cast<int>(role), layer);
  }
  return *found;
}

std::int64_t parameter_count(std::span<const Parameter> layout) {
  std::int64_t count = 0;
  for (const Parameter& parameter : layout) count += parameter.rows * parameter.cols;
  return count;
}

std::int64_t flat_elements(std::span<const Parameter> layout) {
  const Parameter& last = layout.back();
  const std::int64_t end = last.offset + last.rows * last.cols;
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

std::vector<ParameterPiece> pieces_of(std::span<const Parameter> layout, FlatRange range) {
  std::vector<ParameterPiece> pieces;
  for (const Parameter& parameter : layout) {
    const std::int64_t begin = std::max(parameter.offset, range.first);
    const std::int64_t end =
        std::min(parameter.offset + parameter.rows * parameter.cols, range.first + range.count);
    if (begin >= end) continue;
    pieces.push_back({&parameter, begin - parameter.offset, begin - range.first, end - begin});
  }
  return pieces;
}

}  // namespace lie
