// Policies with an adapter on disk: where base and adapter are, and PEFT's
// adapter_model.safetensors. A checkpoint of a run that trains an adapter holds the adapter alone,
// and names its base.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "model/config/model_config.h"
#include "model/weights/weights.h"

namespace lie {

/// Finds the parts of a policy. `model` is a model directory, with or without an adapter in it, or
/// the directory of an adapter that names its base. `adapter` is the directory of an adapter for
/// `model`, or empty. Throws Error if a part is missing, or if `model` and `adapter` both are
/// adapters.
PolicyFiles find_policy(const std::filesystem::path& model,
                        const std::filesystem::path& adapter = {});

/// Returns the config of the policy's adapter, with the directory of its base, and whether it was
/// trained on a base in NF4. Adapters of PEFT do not say that. The policy must have an adapter.
LoraConfig stored_lora(const PolicyFiles& policy);

/// Throws Error if a linear layer of a model cannot be in NF4, since it is not made of whole
/// blocks.
void check_nf4_blocks(std::span<const Parameter> layout);

/// Returns the architecture of the policy. The `lora` of the result is that of its adapter, with
/// the directory of the base, or empty without one. Throws Error as find_policy() and
/// load_model_config() do.
ModelConfig load_policy_config(const std::filesystem::path& model,
                               const std::filesystem::path& adapter = {});

/// Throws Error unless the directory holds an adapter of this rank, alpha and targets whose tensors
/// have the names, shapes and dtypes of `layout`.
void check_adapter(const std::filesystem::path& directory, const LoraConfig& lora,
                   std::span<const Parameter> layout);
/// Reads an adapter into existing weights. Throws Error as check_adapter() does, before it changes
/// anything.
void read_adapter(const std::filesystem::path& directory, Weights& weights);

/// Returns the SHA-256 of the base weights with which the adapter was saved, or empty if the
/// adapter does not say, as those of PEFT.
std::string base_sha256_of_adapter(const std::filesystem::path& directory);

/// Throws Error if the policy's adapter was saved with base weights of another SHA-256.
void check_base(const PolicyFiles& policy, const std::string& base_sha256);
/// As above, with the SHA-256 of the base's files. Reads them only if the adapter names one.
void check_base(const PolicyFiles& policy);

/// Returns a sentence if the policy's adapter does not say with which weights it was saved and
/// names another base: its last part does not occur in the path of the base. Returns another for
/// each file of a tokenizer beside the adapter that the base has otherwise, since that of the base
/// is used.
std::vector<std::string> adapter_remarks(const PolicyFiles& policy);

/// Returns the SHA-256 of the policy's adapter: of its rank, alpha, targets and weights. The policy
/// must have an adapter.
std::string adapter_sha256(const PolicyFiles& policy);

/// Writes config and weights of `merged`, an existing directory: W + scale B A for each matrix that
/// has a pair, in fp32, and these end-of-sequence ids. The policy must have an adapter. If that was
/// trained on a base in NF4, W are the dequantized weights, also of matrices without a pair.
void save_merged(const PolicyFiles& policy, std::span<const std::int32_t> end_of_sequence_ids,
                 const std::filesystem::path& merged);

}  // namespace lie
