#include "model/weights/adapter_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "common/base/error.h"
#include "common/io/sha256.h"
#include "model/weights/host_blocks.h"
#include "model/weights/safetensors.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

bool is_adapter_directory(const fs::path& directory) {
  return fs::exists(directory / kAdapterConfigFile);
}

/// Returns the directory that an adapter names as its base. A relative path counts from the working
/// directory, or else from the adapter.
fs::path named_base(const fs::path& adapter) {
  const fs::path named = load_lora_config(adapter)->base;
  for (const fs::path& place : {named, adapter / named}) {
    if (!named.empty() && fs::exists(place / "config.json")) return place;
  }
  fail(
      "{}: base_model_name_or_path is \"{}\", which is no model directory here; give the base as "
      "model.path and this directory as model.adapter",
      (adapter / kAdapterConfigFile).string(), named.string());
}

/// The tensors of an adapter's file by name.
class AdapterTensors {
 public:
  explicit AdapterTensors(const fs::path& directory) : file_(path_in(directory)) {
    for (const SafetensorsEntry& entry : file_.entries()) by_name_[entry.name] = &entry;
  }

  /// Throws Error unless the tensors are those of `layout`.
  void check(std::span<const Parameter> layout) const {
    for (const Parameter& p : layout) check_tensor(p);
    if (by_name_.size() == layout.size()) return;
    for (const auto& [name, entry] : by_name_) {
      if (std::ranges::find(layout, name, &Parameter::name) != layout.end()) continue;
      fail("{}: tensor \"{}\" has no place in the adapter that {} describes", where(), name,
           kAdapterConfigFile);
    }
  }
  const SafetensorsEntry& of(const Parameter& parameter) const {
    return *by_name_.at(parameter.name);
  }

 private:
  static fs::path path_in(const fs::path& directory) {
    if (fs::exists(directory / "adapter_model.bin") && !fs::exists(directory / kAdapterFile)) {
      fail("{}: holds adapter_model.bin; save the adapter as {} with a newer PEFT",
           directory.string(), kAdapterFile);
    }
    return directory / kAdapterFile;
  }
  std::string where() const { return file_.path().string(); }

  void check_tensor(const Parameter& parameter) const {
    const auto found = by_name_.find(parameter.name);
    if (found == by_name_.end()) {
      fail(
          "{}: tensor \"{}\" is missing; is the adapter one of this model, and does {} belong to "
          "it?",
          where(), parameter.name, kAdapterConfigFile);
    }
    const SafetensorsEntry& entry = *found->second;
    const std::vector<std::int64_t> expected = {parameter.rows, parameter.cols};
    if (entry.shape != expected) {
      fail("{}: tensor \"{}\" has shape [{}], rank and model require [{}]", where(), parameter.name,
           fmt::join(entry.shape, ", "), fmt::join(expected, ", "));
    }
    if (!is_float_dtype(entry.dtype)) {
      fail("{}: tensor \"{}\" has dtype {}, expected F32, BF16 or F16", where(), parameter.name,
           entry.dtype);
    }
  }

  SafetensorsFile file_;
  std::map<std::string, const SafetensorsEntry*> by_name_;
};

std::string text_of(const LoraConfig& lora) {
  return fmt::format("rank {}, alpha {}, targets {}", lora.rank, lora.alpha,
                     fmt::join(lora.targets, ", "));
}

}  // namespace

PolicyFiles find_policy(const fs::path& model, const fs::path& adapter) {
  const bool has_own = is_adapter_directory(model);
  if (adapter.empty() && !has_own) return {model, {}};
  if (!adapter.empty() && !is_adapter_directory(adapter)) {
    fail("{}: holds no {}; give the directory of an adapter in PEFT's format", adapter.string(),
         kAdapterConfigFile);
  }
  if (adapter.empty()) {
    const fs::path base = has_weights(model) ? model : named_base(model);
    if (base != model && is_adapter_directory(base)) {
      fail("{}: its base {} is itself an adapter; merge that one first with lie_cluster merge",
           model.string(), base.string());
    }
    return {base, model};
  }
  if (has_own) {
    fail("{}: is an adapter, too, or holds one; merge it first with lie_cluster merge",
         model.string());
  }
  return {model, adapter};
}

ModelConfig load_policy_config(const fs::path& model, const fs::path& adapter) {
  const PolicyFiles files = find_policy(model, adapter);
  // A checkpoint has a config of its own, with the end-of-sequence ids of its run.
  ModelConfig config = load_model_config(fs::exists(model / "config.json") ? model : files.base);
  if (files.adapter.empty()) return config;
  config.lora = load_lora_config(files.adapter);
  config.lora->base = files.base;
  return config;
}

void check_adapter(const fs::path& directory, const LoraConfig& lora,
                   std::span<const Parameter> layout) {
  const auto stored = load_lora_config(directory);
  if (!stored) fail("{}: holds no {}", directory.string(), kAdapterConfigFile);
  if (text_of(*stored) != text_of(lora)) {
    fail("{}: the adapter has {}, but model.lora says {}; set the same values",
         (directory / kAdapterConfigFile).string(), text_of(*stored), text_of(lora));
  }
  AdapterTensors(directory).check(layout);
}

void read_adapter(const fs::path& directory, Weights& weights) {
  check_adapter(directory, weights.config().lora.value(), weights.parameters());
  const AdapterTensors tensors(directory);
  for (const ParameterPiece& piece : pieces_of(weights.parameters(), weights.shard())) {
    read_entry(weights.operators(), tensors.of(*piece.parameter), piece.first,
               weights.flat().elements_at(piece.at, piece.count));
  }
}

std::string base_sha256_of_adapter(const fs::path& directory) {
  return SafetensorsFile(directory / kAdapterFile).metadata(kBaseSha256);
}

void check_base(const PolicyFiles& policy, const std::string& base_sha256) {
  if (policy.adapter.empty()) return;
  const std::string expected = base_sha256_of_adapter(policy.adapter);
  if (expected.empty() || expected == base_sha256) return;
  fail(
      "{}: the adapter was trained on a base whose weights have SHA-256 {}, those of {} have {}; "
      "give the base that it was trained on",
      policy.adapter.string(), expected, policy.base.string(), base_sha256);
}

void check_base(const PolicyFiles& policy) {
  if (policy.adapter.empty() || base_sha256_of_adapter(policy.adapter).empty()) return;
  check_base(policy, stored_weights_sha256(policy.base));
}

std::string adapter_sha256(const PolicyFiles& policy) {
  const auto operators = make_cpu_operators(1);
  const StoredWeights stored(policy);
  return sha256_hex(text_of(stored.config().lora.value()) + ": " +
                    weights_sha256(stored.adapter(*operators)));
}

namespace {

std::vector<float> host_values(const Weights& weights, const Parameter& parameter) {
  std::vector<float> values(static_cast<std::size_t>(parameter.rows * parameter.cols));
  weights.operators().copy_to_host(
      weights.flat().elements_at(parameter.offset, parameter.rows * parameter.cols), values);
  return values;
}

/// Adds scale B A to `matrix` [out, in], which is contiguous. Products are summed in double.
void add_pair(std::span<const float> a, std::span<const float> b, std::int64_t rank, double scale,
              std::span<float> matrix) {
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t in = a.size() / r, out = b.size() / r;
  std::vector<double> row(in);
  for (std::size_t o = 0; o < out; ++o) {
    std::ranges::fill(row, 0.0);
    for (std::size_t k = 0; k < r; ++k) {
      const double factor = scale * static_cast<double>(b[o * r + k]);
      for (std::size_t i = 0; i < in; ++i) row[i] += factor * static_cast<double>(a[k * in + i]);
    }
    for (std::size_t i = 0; i < in; ++i) {
      float& value = matrix[o * in + i];
      value = static_cast<float>(static_cast<double>(value) + row[i]);
    }
  }
}

}  // namespace

void save_merged(const PolicyFiles& policy, std::span<const std::int32_t> end_of_sequence_ids,
                 const fs::path& merged) {
  const auto operators = make_cpu_operators(1);
  Weights weights = load_weights(policy.base, *operators);
  ModelConfig config = weights.config();
  config.lora = load_lora_config(policy.adapter);
  Weights adapter(config, *operators);
  read_adapter(policy.adapter, adapter);
  for (const Parameter& p : weights.parameters()) {
    if (!may_have_pair(p.role)) continue;
    const PairRoles pair = pair_of(p.role);
    if (!has_parameter(adapter.parameters(), p.layer, pair.a)) continue;
    const auto values = [&](ParameterRole role) {
      return host_values(adapter, parameter_of(adapter.parameters(), p.layer, role));
    };
    const Tensor matrix = weights.tensor(p.name);
    add_pair(values(pair.a), values(pair.b), config.lora->rank,
             config.lora->alpha / static_cast<double>(config.lora->rank),
             {static_cast<float*>(matrix.data), static_cast<std::size_t>(matrix.elements())});
  }
  weights.set_end_of_sequence_ids(
      std::vector<std::int64_t>(end_of_sequence_ids.begin(), end_of_sequence_ids.end()));
  save_weights(weights, merged);
}

}  // namespace lie
