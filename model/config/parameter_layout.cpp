#include "model/config/parameter_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lie {
namespace {

constexpr std::int64_t kAlignment = 16;  // elements: one cache line of fp32

/// Collects parameters one after the other, each at an aligned offset.
class LayoutBuilder {
 public:
  void matrix(std::string name, std::int64_t rows, std::int64_t cols) {
    add({.name = std::move(name), .rows = rows, .cols = cols, .decay = true});
  }
  /// Adds a weight and, if `bias`, its bias.
  void linear(const std::string& name, std::int64_t rows, std::int64_t cols, bool bias) {
    matrix(name + ".weight", rows, cols);
    if (bias) vector(name + ".bias", rows);
  }
  void vector(std::string name, std::int64_t cols) {
    add({.name = std::move(name), .rows = 1, .cols = cols, .decay = false});
  }
  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  void add(Parameter parameter) {
    parameter.offset = next_;
    next_ += parameter.rows * parameter.cols;
    next_ = (next_ + kAlignment - 1) / kAlignment * kAlignment;
    parameters_.push_back(std::move(parameter));
  }

  std::int64_t next_ = 0;
  std::vector<Parameter> parameters_;
};

void add_layer(LayoutBuilder& layout, const ModelConfig& config, std::int64_t layer) {
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  const std::int64_t query_width = config.heads * config.head_width;
  const std::int64_t kv_width = config.kv_heads * config.head_width;
  layout.vector(prefix + "input_layernorm.weight", config.width);
  layout.linear(prefix + "self_attn.q_proj", query_width, config.width, config.qkv_bias);
  layout.linear(prefix + "self_attn.k_proj", kv_width, config.width, config.qkv_bias);
  layout.linear(prefix + "self_attn.v_proj", kv_width, config.width, config.qkv_bias);
  layout.linear(prefix + "self_attn.o_proj", config.width, query_width, config.output_bias);
  if (config.qk_norm) {
    layout.vector(prefix + "self_attn.q_norm.weight", config.head_width);
    layout.vector(prefix + "self_attn.k_norm.weight", config.head_width);
  }
  layout.vector(prefix + "post_attention_layernorm.weight", config.width);
  layout.matrix(prefix + "mlp.gate_proj.weight", config.ffn_width, config.width);
  layout.matrix(prefix + "mlp.up_proj.weight", config.ffn_width, config.width);
  layout.matrix(prefix + "mlp.down_proj.weight", config.width, config.ffn_width);
}

}  // namespace

std::vector<Parameter> parameter_layout(const ModelConfig& config) {
  LayoutBuilder layout;
  layout.matrix("model.embed_tokens.weight", config.vocabulary, config.width);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) add_layer(layout, config, layer);
  layout.vector("model.norm.weight", config.width);
  if (!config.tied_embeddings) layout.matrix("lm_head.weight", config.vocabulary, config.width);
  return layout.take();
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
