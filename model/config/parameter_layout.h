// Where each tensor of a model lies in the one flat order of all its parameters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/config/model_config.h"

namespace lie {

/// Where one tensor lies in the flat buffer.
struct Parameter {
  std::string name;         // Hugging Face name: "model.layers.0.self_attn.q_proj.weight"
  std::int64_t offset = 0;  // elements
  std::int64_t rows = 0;    // out features; 1 for a vector
  std::int64_t cols = 0;    // in features
  bool decay = true;        // weight decay applies (matrices yes, norms and biases no)
  bool operator==(const Parameter&) const = default;
};

/// The parameters of `config` in flat order. Each offset is a multiple of 16 elements.
std::vector<Parameter> parameter_layout(const ModelConfig& config);
/// Numbers in all of them.
std::int64_t parameter_count(std::span<const Parameter> layout);
/// Elements of the flat buffer that holds a layout.
std::int64_t flat_elements(std::span<const Parameter> layout);

/// The elements [first, first + count) of the flat order: all of it, or a shard.
struct FlatRange {
  std::int64_t first = 0, count = 0;
};

/// The piece of one parameter that a range holds.
struct ParameterPiece {
  const Parameter* parameter = nullptr;
  std::int64_t first = 0;  // element of the parameter
  std::int64_t at = 0;     // element of the range
  std::int64_t count = 0;
};

/// The pieces of `range` in order; they point into `layout`.
std::vector<ParameterPiece> pieces_of(std::span<const Parameter> layout, FlatRange range);

}  // namespace lie
