// A policy whose weights lie in another process on the same device: both ends walk the same list.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/error.h"
#include "model/transformer/transformer_state.h"

namespace lie {
namespace {

/// A place of the list: a packed matrix or a tensor, of this shape.
struct Part {
  std::string name;
  std::unique_ptr<PackedWeight>* packed;  // null: a tensor
  Tensor* tensor;
  std::int64_t rows, cols;
};

void add_layer(LayerWeights& layer, const ModelConfig& config, std::vector<Part>& parts) {
  const AttentionShape shape{config.heads, config.kv_heads, config.head_width};
  const auto matrix = [&](const char* name, std::unique_ptr<PackedWeight>& weight, std::int64_t out,
                          std::int64_t in) {
    parts.push_back({layer.prefix + name, &weight, nullptr, out, in});
  };
  const auto vector = [&](bool is_there, const char* name, Tensor& tensor, std::int64_t size) {
    if (is_there) parts.push_back({layer.prefix + name, nullptr, &tensor, 1, size});
  };
  matrix("qkv", layer.qkv, shape.qkv_cols(), config.width);
  matrix("o", layer.o, config.width, shape.q_cols());
  matrix("gate_up", layer.gate_up, 2 * config.ffn_width, config.width);
  matrix("down", layer.down, config.width, config.ffn_width);
  vector(true, "input_norm", layer.input_norm, config.width);
  vector(true, "post_norm", layer.post_norm, config.width);
  vector(config.qk_norm, "q_norm", layer.q_norm, config.head_width);
  vector(config.qk_norm, "k_norm", layer.k_norm, config.head_width);
  vector(config.qkv_bias, "q_bias", layer.q_bias, shape.q_cols());
  vector(config.qkv_bias, "k_bias", layer.k_bias, shape.kv_cols());
  vector(config.qkv_bias, "v_bias", layer.v_bias, shape.kv_cols());
  vector(config.output_bias, "o_bias", layer.o_bias, config.width);
}

std::vector<Part> parts_of(PolicyWeights& policy, const ModelConfig& config) {
  std::vector<Part> parts = {{"head", &policy.head, nullptr, config.vocabulary, config.width},
                             {"final_norm", nullptr, &policy.final_norm, 1, config.width}};
  if (!config.tied_embeddings) {
    parts.push_back({"embedding", nullptr, &policy.embedding, config.vocabulary, config.width});
  }
  for (LayerWeights& layer : policy.layers) add_layer(layer, config, parts);
  return parts;
}

/// Of a shard's policy the table is packed; who only looks rows up need not know.
Tensor memory_of(const Part& part, const PolicyWeights& policy) {
  if (part.packed) return (*part.packed)->matrix_view();
  if (part.tensor == &policy.embedding && policy.own_embedding) {
    return policy.own_embedding->matrix_view();
  }
  return *part.tensor;
}

void check_part(const Part& part, const SharedTensor& lent, DType packed) {
  const auto dtype = static_cast<std::int64_t>(part.packed ? packed : DType::kFloat32);
  const bool is_table = part.name == "embedding";  // of either dtype
  if (lent.rows == part.rows && lent.cols == part.cols && (is_table || lent.dtype == dtype)) return;
  fail(
      "the learner's {} is [{}, {}] of type {}, this actor's [{}, {}] of type {}: give all ranks "
      "the same model directory and model.device",
      part.name, lent.rows, lent.cols, lent.dtype, part.rows, part.cols, dtype);
}

/// Opens each allocation once, however many tensors lie in it.
class Opener {
 public:
  Opener(Operators& operators, std::vector<Buffer>& opened)
      : operators_(operators), opened_(opened) {}

  /// Empty: refused.
  Tensor open(const SharedTensor& lent, std::string& refusal) {
    void* const first = beginning(lent.memory, refusal);
    if (first == nullptr) return {};
    return {static_cast<char*>(first) + lent.memory.offset, lent.rows, lent.cols, lent.cols,
            static_cast<DType>(lent.dtype)};
  }

 private:
  void* beginning(const MemoryHandle& handle, std::string& refusal) {
    const auto known = std::ranges::find(allocations_, handle.allocation);
    if (known != allocations_.end()) {
      return opened_[static_cast<std::size_t>(known - allocations_.begin())].view().data;
    }
    Buffer buffer = operators_.open_shared(handle, refusal);
    if (buffer.empty()) return nullptr;
    allocations_.push_back(handle.allocation);
    opened_.push_back(std::move(buffer));
    return opened_.back().view().data;
  }

  Operators& operators_;
  std::vector<Buffer>& opened_;
  std::vector<std::array<std::byte, 64>> allocations_;
};

}  // namespace

void Transformer::State::wait() const {
  float one = 0;
  operators.copy_to_host(final_norm.elements_at(0, 1), {&one, 1});
}

std::optional<std::vector<SharedTensor>> Transformer::share(std::string& refusal) {
  PolicyWeights& policy = *state_->shared;
  std::vector<SharedTensor> lent;
  for (const Part& part : parts_of(policy, state_->config)) {
    const Tensor memory = memory_of(part, policy);
    const auto handle = state_->operators.share(memory, refusal);
    if (!handle) return {};
    lent.push_back({part.rows, part.cols, static_cast<std::int64_t>(memory.dtype), *handle});
  }
  policy.is_shared = true;
  state_->wait();
  return lent;
}

std::optional<Transformer> Transformer::borrow(const ModelConfig& config, Operators& operators,
                                               std::span<const SharedTensor> lent,
                                               std::string& refusal) {
  auto policy = std::make_shared<PolicyWeights>();
  policy->layers.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t l = 0; l < policy->layers.size(); ++l) {
    policy->layers[l].prefix = fmt::format("model.layers.{}.", l);
  }
  const std::vector<Part> parts = parts_of(*policy, config);
  if (parts.size() != lent.size()) {
    fail(
        "the learner's policy has {} tensors, this actor's {}: give all ranks the same model "
        "directory",
        lent.size(), parts.size());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    check_part(parts[i], lent[i], operators.packed_dtype());
  }
  Opener opener(operators, policy->opened);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor memory = opener.open(lent[i], refusal);
    if (memory.empty()) return {};
    parts[i].packed ? void(*parts[i].packed = operators.weight_at(memory))
                    : void(*parts[i].tensor = memory);
  }
  return Transformer(std::make_unique<State>(config, operators, std::move(policy)));
}

}  // namespace lie
