// The parameters of a model: the name, role and shape of each tensor, and its position in the flat
// order. No other source of model/ lists a layer's parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/config/model_config.h"

namespace lie {

/// What a parameter is to its layer or, for the first three, to the model.
enum class ParameterRole : std::uint8_t {
  kEmbedding,
  kFinalNorm,
  kHead,
  kInputNorm,
  kQuery,
  kQueryBias,
  kKey,
  kKeyBias,
  kValue,
  kValueBias,
  kOutput,
  kOutputBias,
  kQueryNorm,
  kKeyNorm,
  kPostNorm,
  kGate,
  kUp,
  kDown,
  // The low-rank pairs of an adapter.
  kQueryA,
  kQueryB,
  kKeyA,
  kKeyB,
  kValueA,
  kValueB,
  kOutputA,
  kOutputB,
  kGateA,
  kGateB,
  kUpA,
  kUpB,
  kDownA,
  kDownB,
};
inline constexpr std::size_t kParameterRoles = 32;
/// Parameter::layer of the parameters outside of all layers.
inline constexpr std::int64_t kNoLayer = -1;

/// The head's name, which files of tied models may contain, too.
inline constexpr const char* kHeadName = "lm_head.weight";

/// One tensor of the model and its position in the flat order.
struct Parameter {
  std::string name;         // in Hugging Face's form: "model.layers.0.self_attn.q_proj.weight"
  std::int64_t offset = 0;  // elements
  std::int64_t rows = 0;    // out features, or 1 for a vector
  std::int64_t cols = 0;    // in features
  bool decay = true;        // weight decay applies: true for matrices, not for norms and biases
  std::int64_t layer = kNoLayer;
  ParameterRole role = ParameterRole::kEmbedding;
  bool operator==(const Parameter&) const = default;
};

/// The roles of a low-rank pair: A [rank, in] and B [out, rank].
struct PairRoles {
  ParameterRole a, b;
};

/// Returns the parameters of `config` in flat order, without an adapter. Each offset is a multiple
/// of 16 elements.
std::vector<Parameter> parameter_layout(const ModelConfig& config);
/// Returns the parameters of config.lora, which must be set, in a flat order of their own and with
/// PEFT's names.
std::vector<Parameter> adapter_layout(const ModelConfig& config);
/// Returns the parameters that are trained: those of the adapter, or all if there is none.
std::vector<Parameter> trained_layout(const ModelConfig& config);
/// Returns whether the parameters are those of an adapter.
bool is_adapter(std::span<const Parameter> layout);
/// Returns whether an adapter may have a pair for this parameter.
bool may_have_pair(ParameterRole weight);
/// Returns the roles of that pair.
PairRoles pair_of(ParameterRole weight);
/// Returns the largest number of columns of A x over the linear layers of a model, whose pairs of
/// one input are computed together; 0 without an adapter.
std::int64_t low_rank_cols(const ModelConfig& config);
/// Returns whether the layer's parameters contain one of this role.
bool has_parameter(std::span<const Parameter> layout, std::int64_t layer, ParameterRole role);
/// Returns the parameter of a layer, or of kNoLayer. Throws Error if the model has none.
const Parameter& parameter_of(std::span<const Parameter> layout, std::int64_t layer,
                              ParameterRole role);
/// Returns the number of elements of all parameters, without the gaps between them.
std::int64_t parameter_count(std::span<const Parameter> layout);
/// Returns the number of elements of a flat buffer with this layout, gaps included.
std::int64_t flat_elements(std::span<const Parameter> layout);

/// The elements [first, first + count) of the flat order: all elements, or a shard.
struct FlatRange {
  std::int64_t first = 0, count = 0;
};

/// The elements of one parameter that a range contains.
struct ParameterPiece {
  const Parameter* parameter = nullptr;
  std::int64_t first = 0;  // index of the first element within the parameter
  std::int64_t at = 0;     // index of the first element within the range
  std::int64_t count = 0;
};

/// Returns the pieces of `range` in order. They point into `layout`.
std::vector<ParameterPiece> pieces_of(std::span<const Parameter> layout, FlatRange range);

}  // namespace lie
