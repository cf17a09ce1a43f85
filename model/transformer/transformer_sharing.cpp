// A policy whose weights are in the memory of another process on the same device. Both ends walk
// the same list of tensors.
#include <algorithm>
#include <array>
#include <utility>

#include "common/base/error.h"
#include "model/transformer/transformer_state.h"

namespace lie {
namespace {

struct Entry {
  std::string name;
  std::unique_ptr<PackedWeight>* packed;  // null: the entry is a tensor
  Tensor* tensor;
  std::int64_t rows, cols;
};

void add_layer(LayerWeights& layer, const ModelConfig& config, std::vector<Entry>& entries) {
  const AttentionShape shape{config.heads, config.kv_heads, config.head_width};
  const auto matrix = [&](const char* name, std::unique_ptr<PackedWeight>& weight, std::int64_t out,
                          std::int64_t in) {
    entries.push_back({layer.prefix + name, &weight, nullptr, out, in});
  };
  const auto vector = [&](bool exists, const char* name, Tensor& tensor, std::int64_t size) {
    if (exists) entries.push_back({layer.prefix + name, nullptr, &tensor, 1, size});
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

std::vector<Entry> entries_of(PolicyWeights& policy, const ModelConfig& config) {
  std::vector<Entry> entries = {{"head", &policy.head, nullptr, config.vocabulary, config.width},
                                {"final_norm", nullptr, &policy.final_norm, 1, config.width}};
  if (!config.tied_embeddings) {
    entries.push_back({"embedding", nullptr, &policy.embedding, config.vocabulary, config.width});
  }
  for (LayerWeights& layer : policy.layers) add_layer(layer, config, entries);
  return entries;
}

/// Returns the entry's memory. A policy of sharded weights holds its embedding packed, which an
/// actor reads like a tensor, row by row.
Tensor memory_of(const Entry& entry, const PolicyWeights& policy) {
  if (entry.packed) return (*entry.packed)->matrix_view();
  if (entry.tensor == &policy.embedding && policy.own_embedding) {
    return policy.own_embedding->matrix_view();
  }
  return *entry.tensor;
}

void check_entry(const Entry& entry, const SharedTensor& handle, DType packed) {
  const auto dtype = static_cast<std::int64_t>(entry.packed ? packed : DType::kFloat32);
  const bool has_dtype = handle.dtype == dtype || entry.name == "embedding";  // which has either
  if (handle.rows == entry.rows && handle.cols == entry.cols && has_dtype) return;
  fail(
      "the learner's {} is [{}, {}] of type {}, this actor's [{}, {}] of type {}: give all ranks "
      "the same model directory and model.device",
      entry.name, handle.rows, handle.cols, handle.dtype, entry.rows, entry.cols, dtype);
}

/// Opens each allocation once, however many tensors it holds.
class Opener {
 public:
  Opener(Operators& operators, std::vector<Buffer>& opened)
      : operators_(operators), opened_(opened) {}

  /// Returns an empty tensor if the device refuses.
  Tensor open(const SharedTensor& handle, std::string& refusal) {
    void* const first = allocation(handle.memory, refusal);
    if (first == nullptr) return {};
    return {static_cast<char*>(first) + handle.memory.offset, handle.rows, handle.cols, handle.cols,
            static_cast<DType>(handle.dtype)};
  }

 private:
  /// Returns the first byte of the allocation.
  void* allocation(const MemoryHandle& handle, std::string& refusal) {
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

/// Copies one element to the host, which waits for all work enqueued before.
void Transformer::State::wait() const {
  float one = 0;
  operators.copy_to_host(final_norm.elements_at(0, 1), {&one, 1});
}

std::optional<std::vector<SharedTensor>> Transformer::share(std::string& refusal) {
  PolicyWeights& policy = *state_->shared;
  std::vector<SharedTensor> handles;
  for (const Entry& entry : entries_of(policy, state_->config)) {
    const Tensor memory = memory_of(entry, policy);
    const auto handle = state_->operators.share(memory, refusal);
    if (!handle) return {};
    handles.push_back({entry.rows, entry.cols, static_cast<std::int64_t>(memory.dtype), *handle});
  }
  policy.is_shared = true;
  state_->wait();
  return handles;
}

std::optional<Transformer> Transformer::open_shared(const ModelConfig& config, Operators& operators,
                                                    std::span<const SharedTensor> handles,
                                                    std::string& refusal) {
  auto policy = std::make_shared<PolicyWeights>();
  policy->layers.resize(static_cast<std::size_t>(config.layers));
  for (std::size_t l = 0; l < policy->layers.size(); ++l) {
    policy->layers[l].prefix = fmt::format("model.layers.{}.", l);
  }
  const std::vector<Entry> entries = entries_of(*policy, config);
  if (entries.size() != handles.size()) {
    fail(
        "the learner's policy has {} tensors, this actor's {}: give all ranks the same model "
        "directory",
        handles.size(), entries.size());
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    check_entry(entries[i], handles[i], operators.packed_dtype());
  }
  Opener opener(operators, policy->opened);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Tensor memory = opener.open(handles[i], refusal);
    if (memory.empty()) return {};
    entries[i].packed ? void(*entries[i].packed = operators.weight_at(memory))
                      : void(*entries[i].tensor = memory);
  }
  return Transformer(std::make_unique<State>(config, operators, std::move(policy)));
}

}  // namespace lie
