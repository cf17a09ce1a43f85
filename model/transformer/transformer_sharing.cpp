// A policy whose weights are in the memory of another process on the same device. Both ends walk
// the same list of tensors.
#include <algorithm>
#include <array>
#include <map>
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

std::vector<Entry> entries_of(PolicyWeights& policy, const ModelConfig& config) {
  std::vector<Entry> entries = {{"head", &policy.head, nullptr, config.vocabulary, config.width},
                                {"final_norm", nullptr, &policy.final_norm, 1, config.width}};
  if (!config.tied_embeddings) {
    entries.push_back({"embedding", nullptr, &policy.embedding, config.vocabulary, config.width});
  }
  const NamedParameters parameters(config);
  const auto matrix = [&](std::unique_ptr<PackedWeight>& weight, const auto& names) {
    const Parameter all = parameters.stacked(names);
    entries.push_back({all.name, &weight, nullptr, all.rows, all.cols});
  };
  const auto vector = [&](Tensor& tensor, const std::string& name) {
    entries.push_back({name, nullptr, &tensor, 1, parameters.at(name).cols});
  };
  for (LayerWeights& layer : policy.layers) for_each_weight(layer, config, matrix, vector);
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
  const bool has_dtype = handle.dtype == dtype || entry.name == "embedding";  // may have either
  if (handle.rows == entry.rows && handle.cols == entry.cols && has_dtype) return;
  fail(
      "the learner's {} is [{}, {}] of type {}, this actor's [{}, {}] of type {}: give all ranks "
      "the same model directory and model.device",
      entry.name, handle.rows, handle.cols, handle.dtype, entry.rows, entry.cols, dtype);
}

/// The first byte of each opened allocation. An allocation is opened once, however many tensors it
/// holds.
using Allocations = std::map<std::array<std::byte, 64>, char*>;

/// Opens the memory of a tensor, which `opened` then holds. Returns an empty tensor if the device
/// refuses.
Tensor open_tensor(Operators& operators, const SharedTensor& handle, Allocations& allocations,
                   std::vector<Buffer>& opened, std::string& refusal) {
  char*& first = allocations[handle.memory.allocation];
  if (first == nullptr) {
    opened.push_back(operators.open_shared(handle.memory, refusal));
    first = static_cast<char*>(opened.back().view().data);
    if (first == nullptr) return {};
  }
  return {first + handle.memory.offset, handle.rows, handle.cols, handle.cols,
          static_cast<DType>(handle.dtype)};
}

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
  Allocations allocations;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Tensor memory = open_tensor(operators, handles[i], allocations, policy->opened, refusal);
    if (memory.empty()) return {};
    entries[i].packed ? void(*entries[i].packed = operators.weight_at(memory))
                      : void(*entries[i].tensor = memory);
  }
  return Transformer(std::make_unique<State>(config, operators, std::move(policy), nullptr, true));
}

}  // namespace lie
