#include "model/weights/adapter_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/sha256.h"
#include "common/text/scan.h"
#include "model/operators/nf4.h"
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

/// Returns the path of an adapter's weights.
fs::path adapter_file(const fs::path& directory) {
  if (fs::exists(directory / "adapter_model.bin") && !fs::exists(directory / kAdapterFile)) {
    fail("{}: holds adapter_model.bin; save the adapter as {} with a newer PEFT",
         directory.string(), kAdapterFile);
  }
  return directory / kAdapterFile;
}

/// The tensors of an adapter's file by name.
class AdapterTensors {
 public:
  explicit AdapterTensors(const fs::path& directory) : file_(adapter_file(directory)) {
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

/// Returns what errors name and adapter_sha256() hashes: another wording is another adapter to the
/// runs that recorded its hash.
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

LoraConfig stored_lora(const PolicyFiles& policy) {
  auto lora = load_lora_config(policy.adapter);
  if (!lora) fail("{}: holds no {}", policy.adapter.string(), kAdapterConfigFile);
  lora->base = policy.base;
  const SafetensorsFile file(adapter_file(policy.adapter));
  const std::string quantization = file.metadata(kBaseQuantization);
  if (!quantization.empty() && quantization != kNf4) {
    fail("{}: {} is \"{}\", expected \"{}\" or none", file.path().string(), kBaseQuantization,
         quantization, kNf4);
  }
  lora->nf4 = !quantization.empty();
  return *lora;
}

void check_nf4_blocks(std::span<const Parameter> layout) {
  for (const Parameter& p : layout) {
    if (!may_have_pair(p.role) || p.rows * p.cols % nf4::kBlock == 0) continue;
    fail("{} has {} weights, and NF4 has blocks of {}, so this base cannot be in NF4", p.name,
         p.rows * p.cols, nf4::kBlock);
  }
}

ModelConfig load_policy_config(const fs::path& model, const fs::path& adapter) {
  const PolicyFiles files = find_policy(model, adapter);
  // A checkpoint has a config of its own, with the end-of-sequence ids of its run.
  ModelConfig config = load_model_config(fs::exists(model / "config.json") ? model : files.base);
  if (files.adapter.empty()) return config;
  config.lora = stored_lora(files);
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

namespace {

/// Returns a sentence if an adapter that does not say with which weights it was saved names another
/// base than the policy's: its last part does not occur in the path of the base. Else empty.
std::string other_base_remark(const PolicyFiles& policy) {
  if (policy.adapter.empty() || !base_sha256_of_adapter(policy.adapter).empty()) return "";
  const std::string named = load_lora_config(policy.adapter)->base;
  const std::string name = lowered((fs::path(named) / "").parent_path().filename().string());
  const std::string base = fs::absolute(policy.base).lexically_normal().string();
  const std::string paths = base + " " + fs::weakly_canonical(policy.base).string();
  if (lowered(paths).find(name) != std::string::npos) return "";
  return fmt::format(
      "{}: base_model_name_or_path is \"{}\", but the base here is {}; on other weights the "
      "adapter computes something else without an error",
      (policy.adapter / kAdapterConfigFile).string(), named, base);
}

/// Returns a sentence for each file of a tokenizer beside the adapter that the base has otherwise.
std::vector<std::string> other_tokenizer_remarks(const PolicyFiles& policy) {
  std::vector<std::string> remarks;
  for (const char* name : {"tokenizer.json", "chat_template.jinja"}) {
    const fs::path own = policy.adapter / name, base = policy.base / name;
    if (!fs::exists(own)) continue;
    const bool is_json = own.extension() == ".json";
    if (fs::exists(base) &&
        (is_json ? read_json(own) == read_json(base) : read_file(own) == read_file(base))) {
      continue;
    }
    remarks.push_back(fmt::format(
        "{}: it is not read; the base's {} is used, and differs. If the adapter was trained with "
        "it, put it into a copy of the base's directory",
        own.string(), name));
  }
  return remarks;
}

}  // namespace

std::vector<std::string> adapter_remarks(const PolicyFiles& policy) {
  if (policy.adapter.empty()) return {};
  std::vector<std::string> remarks = other_tokenizer_remarks(policy);
  std::string base = other_base_remark(policy);
  if (!base.empty()) remarks.push_back(std::move(base));
  if (const auto keys = unknown_lora_keys(policy.adapter); !keys.empty()) {
    remarks.push_back(
        fmt::format("{}: {} {} not known here and may change what the adapter computes",
                    (policy.adapter / kAdapterConfigFile).string(), fmt::join(keys, ", "),
                    keys.size() == 1 ? "is" : "are"));
  }
  return remarks;
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

/// Replaces weights by what NF4 makes of them.
void round_to_nf4(std::span<float> weights) {
  std::array<std::uint8_t, nf4::kBlockBytes> codes{};
  const float* const values = nf4::kValues.data();
  for (std::size_t first = 0; first < weights.size(); first += nf4::kBlock) {
    const auto block = weights.subspan(first, nf4::kBlock);
    const float scale = nf4::quantize(block.data(), values, codes.data());
    for (std::size_t i = 0; i < block.size(); ++i) {
      block[i] = nf4::weight_at(codes.data(), scale, static_cast<std::int64_t>(i), values);
    }
  }
}

}  // namespace

void save_merged(const PolicyFiles& policy, std::span<const std::int32_t> end_of_sequence_ids,
                 const fs::path& merged) {
  const auto operators = make_cpu_operators(1);
  Weights weights = load_weights(policy.base, *operators);
  ModelConfig config = weights.config();
  config.lora = stored_lora(policy);
  if (config.lora->nf4) check_nf4_blocks(weights.parameters());
  Weights adapter(config, *operators);
  read_adapter(policy.adapter, adapter);
  for (const Parameter& p : weights.parameters()) {
    if (!may_have_pair(p.role)) continue;
    const Tensor matrix = weights.tensor(p.name);
    const std::span<float> elements(static_cast<float*>(matrix.data),
                                    static_cast<std::size_t>(matrix.elements()));
    if (config.lora->nf4) round_to_nf4(elements);
    const PairRoles pair = pair_of(p.role);
    if (!has_parameter(adapter.parameters(), p.layer, pair.a)) continue;
    const auto values = [&](ParameterRole role) {
      return host_values(adapter, parameter_of(adapter.parameters(), p.layer, role));
    };
    add_pair(values(pair.a), values(pair.b), config.lora->rank, config.lora->scale(), elements);
  }
  weights.set_end_of_sequence_ids(
      std::vector<std::int64_t>(end_of_sequence_ids.begin(), end_of_sequence_ids.end()));
  save_weights(weights, merged);
}

}  // namespace lie
