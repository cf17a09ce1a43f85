#include "model/config/parameter_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

constexpr std::int64_t kAlignment = 16;  // elements: one cache line of fp32

using enum ParameterRole;

/// What a linear layer reads. Those with the same input are one matmul.
enum class Input : std::uint8_t { kAttention, kHeads, kFeedForward, kInner };

/// A linear layer that may have a low-rank pair: PEFT's module name, its place in a layer, the
/// roles of its matrix and pair, and its input.
struct Module {
  std::string_view name, place;
  ParameterRole weight;
  PairRoles pair;
  Input input;
};

constexpr Module kModules[] = {
    {"q_proj", "self_attn.q_proj", kQuery, {kQueryA, kQueryB}, Input::kAttention},
    {"k_proj", "self_attn.k_proj", kKey, {kKeyA, kKeyB}, Input::kAttention},
    {"v_proj", "self_attn.v_proj", kValue, {kValueA, kValueB}, Input::kAttention},
    {"o_proj", "self_attn.o_proj", kOutput, {kOutputA, kOutputB}, Input::kHeads},
    {"gate_proj", "mlp.gate_proj", kGate, {kGateA, kGateB}, Input::kFeedForward},
    {"up_proj", "mlp.up_proj", kUp, {kUpA, kUpB}, Input::kFeedForward},
    {"down_proj", "mlp.down_proj", kDown, {kDownA, kDownB}, Input::kInner}};
static_assert(std::ranges::equal(kModules, kLoraModules, {}, &Module::name));

/// Collects parameters one after the other, each at an aligned offset.
class LayoutBuilder {
 public:
  /// `prefix` begins all names.
  explicit LayoutBuilder(std::string_view prefix = "") : first_(prefix) {}
  /// Begins a layer, whose parameters have its prefix, or the parameters outside of all layers.
  void begin(std::int64_t layer) {
    layer_ = layer;
    prefix_ = first_ + (layer == kNoLayer ? "" : fmt::format("model.layers.{}.", layer));
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

  std::string first_;
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

namespace {

/// Adds the pairs of a layer. The A of all modules come first, so that those of one input are
/// adjacent.
void add_pairs(LayoutBuilder& layout, const LoraConfig& lora, std::span<const Parameter> base,
               std::int64_t layer) {
  layout.begin(layer);
  const auto for_each_target = [&](const auto& add) {
    for (const Module& module : kModules) {
      if (std::ranges::find(lora.targets, module.name) == lora.targets.end()) continue;
      add(module, parameter_of(base, layer, module.weight));
    }
  };
  for_each_target([&](const Module& module, const Parameter& weight) {
    layout.matrix(module.pair.a, fmt::format("{}.lora_A.weight", module.place), lora.rank,
                  weight.cols);
  });
  for_each_target([&](const Module& module, const Parameter& weight) {
    layout.matrix(module.pair.b, fmt::format("{}.lora_B.weight", module.place), weight.rows,
                  lora.rank);
  });
}

}  // namespace

std::vector<Parameter> adapter_layout(const ModelConfig& config) {
  const std::vector<Parameter> base = parameter_layout(config);
  LayoutBuilder layout("base_model.model.");
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    add_pairs(layout, config.lora.value(), base, layer);
  }
  return layout.take();
}

std::vector<Parameter> trained_layout(const ModelConfig& config) {
  return config.lora ? adapter_layout(config) : parameter_layout(config);
}

bool is_adapter(std::span<const Parameter> layout) {
  return layout.front().role >= ParameterRole::kQueryA;
}

bool may_have_pair(ParameterRole weight) {
  return std::ranges::find(kModules, weight, &Module::weight) != std::end(kModules);
}

PairRoles pair_of(ParameterRole weight) {
  const auto* module = std::ranges::find(kModules, weight, &Module::weight);
  if (module == std::end(kModules)) fail("role {} has no pair", static_cast<int>(weight));
  return module->pair;
}

std::int64_t low_rank_cols(const ModelConfig& config) {
  if (!config.lora) return 0;
  std::map<Input, std::int64_t> pairs;
  std::int64_t most = 0;
  for (const Module& module : kModules) {
    if (std::ranges::find(config.lora->targets, module.name) == config.lora->targets.end())
      continue;
    most = std::max(most, ++pairs[module.input]);
  }
  return most * config.lora->rank;
}

bool has_parameter(std::span<const Parameter> layout, std::int64_t layer, ParameterRole role) {
  return std::ranges::any_of(
      layout, [&](const Parameter& p) { return p.layer == layer && p.role == role; });
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
