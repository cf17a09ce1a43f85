#include "model/weights.h"

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/memory.h"
#include "common/random.h"

namespace lie {
namespace {

constexpr std::int64_t kAlignment = 16;  // elements: one cache line of fp32

/// Collects parameters end to end, each at an aligned offset.
class LayoutBuilder {
 public:
  void matrix(std::string name, std::int64_t rows, std::int64_t cols) {
    add({.name = std::move(name), .rows = rows, .cols = cols, .decay = true});
  }
  /// A weight, and its bias where it has one.
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

const Parameter& find_parameter(std::span<const Parameter> parameters, std::string_view name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return parameter;
  }
  fail("the model has no parameter \"{}\"", name);
}

void fill_normal(std::span<float> values, double deviation, std::uint64_t seed,
                 std::size_t parameter) {
  RandomKey key{.seed = seed, .stream = kInitialisationStream};
  key.problem = static_cast<std::uint32_t>(parameter);
  for (std::size_t i = 0; i < values.size(); ++i) {
    key.sample = static_cast<std::uint32_t>(i >> 32);
    key.index = static_cast<std::uint32_t>(i);
    values[i] = static_cast<float>(deviation) * random_normal(key);
  }
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

Weights::Weights(const ModelConfig& config)
    : config_(config),
      parameters_(parameter_layout(config)),
      flat_(static_cast<std::size_t>(flat_elements(parameters_))) {}

std::span<const float> Weights::tensor(std::string_view name) const {
  const Parameter& parameter = find_parameter(parameters_, name);
  return flat().subspan(static_cast<std::size_t>(parameter.offset),
                        static_cast<std::size_t>(parameter.rows * parameter.cols));
}

std::span<float> Weights::tensor(std::string_view name) {
  const Parameter& parameter = find_parameter(parameters_, name);
  return flat().subspan(static_cast<std::size_t>(parameter.offset),
                        static_cast<std::size_t>(parameter.rows * parameter.cols));
}

void Weights::release(std::span<const float> part) { release_pages(std::as_bytes(part)); }

Weights initial_weights(const ModelConfig& config, std::uint64_t seed) {
  Weights weights(config);
  for (std::size_t i = 0; i < weights.parameters().size(); ++i) {
    const Parameter& parameter = weights.parameters()[i];
    const std::span<float> values = weights.tensor(parameter.name);
    if (parameter.decay) {
      fill_normal(values, config.initializer_range, seed, i);
    } else {
      std::ranges::fill(values, parameter.name.ends_with(".bias") ? 0.0f : 1.0f);
    }
  }
  return weights;
}

}  // namespace lie
