// A policy whose weights are in the memory of another process on the same device. Both ends walk
// the same list of tensors.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "common/base/error.h"
#include "model/layers/resident_weights.h"

namespace lie {

struct ResidentWeights::Entry {
  std::string name;
  std::unique_ptr<PackedWeight>* packed;  // null: the entry is a tensor
  Tensor* tensor;
  std::int64_t rows, cols;
};

std::vector<ResidentWeights::Entry> ResidentWeights::entries() {
  OuterWeights& outer = outer_;
  std::vector<Entry> all = {{"head", &outer.head, nullptr, config_.vocabulary, config_.width},
                            {"final_norm", nullptr, &outer.final_norm, 1, config_.width}};
  if (!config_.tied_embeddings) {
    all.push_back({"embedding", nullptr, &outer.embedding, config_.vocabulary, config_.width});
  }
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    Block& block = blocks_[static_cast<std::size_t>(l)];
    for (Linear* linear : linears_of(block)) {
      const std::string& name = parameter(l, linear->projections.front().weight).name;
      all.push_back({name, &linear->matrix, nullptr, linear->out(), linear->in});
      LowRank& low_rank = linear->low_rank;
      if (low_rank.pairs.empty()) continue;
      all.push_back({name + " A", &low_rank.a, nullptr, low_rank.cols(), low_rank.in});
      for (LowRankPair& pair : low_rank.pairs) {
        all.push_back({name + " B", &pair.b, nullptr, pair.rows, low_rank.rank});
      }
    }
    for_each_vector(block, [&](Tensor& tensor, ParameterRole role) {
      const Parameter& one = parameter(l, role);
      all.push_back({one.name, nullptr, &tensor, 1, one.cols});
    });
  }
  return all;
}

/// Returns the entry's memory. A policy of sharded weights holds its embedding packed, which an
/// actor reads like a tensor, row by row.
Tensor ResidentWeights::memory_of(const Entry& entry) const {
  if (entry.packed) return (*entry.packed)->matrix_view();
  if (entry.tensor == &outer_.embedding && outer_.own_embedding) {
    return outer_.own_embedding->matrix_view();
  }
  return *entry.tensor;
}

namespace {

/// Throws Error unless the handle is that of a tensor with this name and shape. `dtype` is its
/// type, or empty if it may have either.
void check_handle(const std::string& name, std::int64_t rows, std::int64_t cols,
                  std::optional<DType> dtype, const SharedTensor& handle) {
  const auto number = static_cast<std::int64_t>(dtype.value_or(DType::kFloat32));
  const bool has_dtype = !dtype || handle.dtype == number;
  if (handle.rows == rows && handle.cols == cols && has_dtype) return;
  fail(
      "the learner's {} is [{}, {}] of type {}, this actor's [{}, {}] of type {}: give all ranks "
      "the same model directory and model.device",
      name, handle.rows, handle.cols, handle.dtype, rows, cols, number);
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
void ResidentWeights::wait() const {
  float one = 0;
  operators_.copy_to_host(outer_.final_norm.elements_at(0, 1), {&one, 1});
}

std::optional<std::vector<SharedTensor>> ResidentWeights::share(std::string& refusal) {
  std::vector<SharedTensor> handles;
  for (const Entry& entry : entries()) {
    const Tensor memory = memory_of(entry);
    const auto handle = operators_.share(memory, refusal);
    if (!handle) return {};
    handles.push_back({entry.rows, entry.cols, static_cast<std::int64_t>(memory.dtype), *handle});
  }
  is_shared_ = true;
  wait();
  return handles;
}

std::shared_ptr<ResidentWeights> ResidentWeights::opened(const ModelConfig& config,
                                                         Operators& operators,
                                                         std::span<const SharedTensor> handles,
                                                         std::string& refusal) {
  std::shared_ptr<ResidentWeights> policy(new ResidentWeights(config, operators));
  const std::vector<Entry> entries = policy->entries();
  if (entries.size() != handles.size()) {
    fail(
        "the learner's policy has {} tensors, this actor's {}: give all ranks the same model "
        "directory",
        handles.size(), entries.size());
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    const bool is_embedding = e.tensor == &policy->outer_.embedding;
    const std::optional<DType> dtype =
        is_embedding ? std::nullopt
                     : std::optional(e.packed ? operators.packed_dtype() : DType::kFloat32);
    check_handle(e.name, e.rows, e.cols, dtype, handles[i]);
  }
  Allocations allocations;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Tensor memory = open_tensor(operators, handles[i], allocations, policy->opened_, refusal);
    if (memory.empty()) return nullptr;
    entries[i].packed ? void(*entries[i].packed = operators.weight_at(memory))
                      : void(*entries[i].tensor = memory);
  }
  return policy;
}

}  // namespace lie
