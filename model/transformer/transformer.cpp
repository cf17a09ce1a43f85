#include "model/transformer/transformer.h"

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "model/transformer/rope.h"
#include "model/transformer/transformer_state.h"

namespace lie {

Tensor GrowingTensor::rows(Operators& operators, std::int64_t rows, std::int64_t cols,
                           DType dtype) {
  if (buffer_.empty() || buffer_.view().rows < rows || buffer_.view().cols != cols) {
    const std::int64_t capacity = buffer_.empty() ? rows : rows + rows / 4;
    buffer_ = Buffer();
    buffer_ = operators.allocate(std::max<std::int64_t>(capacity, 1), cols, dtype);
  }
  return buffer_.view().rows_at(0, rows);
}

Transformer::State::State(const ModelConfig& model, Operators& own,
                          std::shared_ptr<PolicyWeights> policy, const Weights* all, bool shares)
    : weights(all),
      shares_weights(shares),
      config(model),
      operators(own),
      shape{config.heads, config.kv_heads, config.head_width},
      eps(static_cast<float>(config.rms_norm_eps)),
      parameters(config),
      elements(flat_elements(parameter_layout(config))),
      shared(std::move(policy)) {}

Transformer::State::State(const Weights* all, std::unique_ptr<StoredWeights> fixed, Operators& own)
    : State(all ? all->config() : fixed->config(), own, std::make_shared<PolicyWeights>(), all,
            false) {
  stored = std::move(fixed);
  const bool is_available = stored || views_weights();
  if (views_weights()) flat = weights->flat();
  for (std::int64_t l = 0; l < config.layers; ++l) {
    layers.push_back(make_layer(l));
    if (is_available) pack_layer(layers.back());
  }
  head = make_weight(config.vocabulary, config.width);
  if (!views_weights() && !config.tied_embeddings) {
    own_embedding = make_weight(config.vocabulary, config.width);
  }
  if (is_available) pack_embedding_and_head();
  stored.reset();
}

std::unique_ptr<PackedWeight> Transformer::State::make_weight(std::int64_t out,
                                                              std::int64_t in) const {
  return operators.make_weight(out, in, stored ? WeightUse::kFixed : WeightUse::kTrained);
}

LayerWeights Transformer::State::make_layer(std::int64_t layer) const {
  LayerWeights made;
  made.prefix = fmt::format("model.layers.{}.", layer);
  const auto make = [&](std::unique_ptr<PackedWeight>& weight, const auto& names) {
    const Parameter all = parameters.stacked(names);
    weight = make_weight(all.rows, all.cols);
  };
  for_each_weight(made, config, make, [](Tensor&, const std::string&) {});
  return made;
}

Tensor Transformer::State::in_flat(const std::string& name) const {
  const Parameter& p = parameters.at(name);
  const Tensor part = flat.elements_at(p.offset, p.rows * p.cols);
  return {part.data, p.rows, p.cols, p.cols, part.dtype};
}

void Transformer::State::pack_weights(Tensor all) {
  flat = all;
  for (LayerWeights& layer : layers) pack_layer(layer);
  pack_embedding_and_head();
}

void Transformer::State::embed(Operators& ops, Indices tokens, Tensor x) const {
  const PackedWeight* packed = config.tied_embeddings ? head.get() : own_embedding.get();
  packed ? ops.embed(*packed, tokens, x) : ops.embed(embedding, tokens, x);
}

void Transformer::State::pack_matrix(PackedWeight& weight, std::int64_t first_out,
                                     const std::string& name) const {
  constexpr std::int64_t kPartElements = 1 << 20;
  if (!stored) return operators.pack(weight, first_out, in_flat(name));
  const Parameter& matrix = parameters.at(name);
  const std::int64_t part_rows =
      std::clamp<std::int64_t>(kPartElements / matrix.cols, 1, matrix.rows);
  const Buffer memory = operators.allocate(part_rows, matrix.cols, DType::kFloat32);
  for (std::int64_t first = 0; first < matrix.rows; first += part_rows) {
    const Tensor part = memory.view().rows_at(0, std::min(part_rows, matrix.rows - first));
    stored->read(matrix, first * matrix.cols, operators, part);
    operators.pack(weight, first_out + first, part);
  }
}

Tensor Transformer::State::vector(const std::string& name) {
  if (views_weights()) return in_flat(name);
  const Parameter& parameter = parameters.at(name);
  Buffer& own = shared->own_vectors[name];
  if (own.empty()) own = operators.allocate(1, parameter.cols, DType::kFloat32);
  stored ? stored->read(parameter, 0, operators, own.view())
         : operators.copy(in_flat(name), own.view());
  return own.view();
}

void Transformer::State::pack_embedding_and_head() {
  final_norm = vector("model.norm.weight");
  const std::string table = "model.embed_tokens.weight";
  pack_matrix(*head, 0, config.tied_embeddings ? table : "lm_head.weight");
  if (own_embedding) pack_matrix(*own_embedding, 0, table);
  if (views_weights() && !config.tied_embeddings) embedding = in_flat(table);
}

std::vector<const PackedWeight*> Transformer::State::packed_weights() const {
  std::vector<const PackedWeight*> all = {head.get()};
  if (own_embedding) all.push_back(own_embedding.get());
  for (const LayerWeights& layer : layers) {
    for (const auto* weight : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down}) {
      all.push_back(weight->get());
    }
  }
  return all;
}

void Transformer::State::pack_layer(LayerWeights& layer) {
  const auto pack = [&](std::unique_ptr<PackedWeight>& weight, const auto& names) {
    std::int64_t first_out = 0;
    for (const std::string& name : names) {
      pack_matrix(*weight, first_out, name);
      first_out += parameters.at(name).rows;
    }
  };
  for_each_weight(layer, config, pack,
                  [&](Tensor& tensor, const std::string& name) { tensor = vector(name); });
}

void Transformer::State::add_qkv_bias(Operators& ops, const LayerWeights& layer, Tensor qkv) const {
  const std::int64_t q = shape.q_cols(), kv = shape.kv_cols();
  ops.add_bias(qkv.cols_at(0, q), layer.q_bias);
  ops.add_bias(qkv.cols_at(q, kv), layer.k_bias);
  ops.add_bias(qkv.cols_at(q + kv, kv), layer.v_bias);
}

void Transformer::State::grow_rope(std::int64_t end) {
  if (end > config.max_positions) {
    fail("a sequence of {} tokens is longer than the model's max_position_embeddings {}", end,
         config.max_positions);
  }
  if (!rope.empty() && end <= rope.view().rows) return;
  const std::int64_t positions =
      std::min(config.max_positions, std::max<std::int64_t>(2 * end, 1024));
  rope = operators.allocate(positions, config.head_width, DType::kFloat32);
  operators.copy_from_host(rope_table(config, positions), rope.view());
}

QkNormRope Transformer::State::rotation(const LayerWeights& layer, Indices positions) const {
  return {shape, layer.q_norm, layer.k_norm, eps, rope.view(), positions};
}

Tensor Transformer::State::rows_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols) {
  return tensor.rows(operators, rows, cols, operators.activation_dtype());
}

Tensor Transformer::State::floats_of(GrowingTensor& tensor, std::int64_t rows, std::int64_t cols) {
  return tensor.rows(operators, rows, cols, DType::kFloat32);
}

Tensor Transformer::State::row_statistics(GrowingTensor& tensor, std::int64_t rows) {
  const Tensor column = floats_of(tensor, rows, 1);
  return {column.data, 1, rows, rows, DType::kFloat32};
}

Transformer::Transformer(const Weights& weights)
    : state_(std::make_unique<State>(&weights, nullptr, weights.operators())) {}

Transformer::Transformer(std::unique_ptr<State> state) : state_(std::move(state)) {}

Transformer Transformer::fixed(const std::filesystem::path& directory, Operators& operators) {
  auto stored = std::make_unique<StoredWeights>(directory);
  return Transformer(std::make_unique<State>(nullptr, std::move(stored), operators));
}

Transformer Transformer::with_shared_weights(Operators& operators) const {
  const State& s = *state_;
  return Transformer(std::make_unique<State>(s.config, operators, s.shared, s.weights, true));
}

Transformer::Transformer(Transformer&&) noexcept = default;
Transformer::~Transformer() = default;

void Transformer::weights_changed() {
  state_->training.kept = false;
  if (state_->shares_weights) return;
  if (!state_->weights) fail("the weights of a fixed policy cannot be changed");
  set_weights(state_->weights->flat());
}

void Transformer::set_weights(Tensor flat) {
  if (!state_->weights) fail("the weights of a fixed policy cannot be changed");
  if (flat.elements() != state_->elements) {
    fail("a policy with {} flat weight elements received {}", state_->elements, flat.elements());
  }
  state_->training.kept = false;
  state_->pack_weights(flat);
  if (state_->shared->is_shared) state_->wait();
}

void Transformer::use_cuda_graphs(bool on) { state_->graphs.is_enabled = on; }

CudaGraphs::Usage Transformer::cuda_graph_usage() const {
  return state_->graphs.cuda_graphs ? state_->graphs.cuda_graphs->usage() : CudaGraphs::Usage();
}

void Transformer::limit_training_bytes(std::int64_t bytes) { state_->training.max_bytes = bytes; }

PackedSize Transformer::packed_size() const {
  PackedSize size;
  for (const PackedWeight* weight : state_->packed_weights()) {
    const std::int64_t elements = weight->out() * weight->in(), bytes = weight->bytes();
    size.elements += elements;
    if (bytes >= elements * dtype_bytes(DType::kFloat32)) size.fp32_elements += elements;
    size.bytes += bytes;
  }
  return size;
}

}  // namespace lie
