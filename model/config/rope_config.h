// The rotary embedding's part of a config.json, as spelt by transformers 4 and 5.
#pragma once

#include "model/config/config_reader.h"
#include "model/config/model_config.h"

namespace lie {

/// Sets rope_theta and llama3_rope. transformers 5 writes rope_parameters {rope_theta, rope_type,
/// ...}; before, rope_theta stood at top level and rope_scaling {rope_type or type, ...} beside it.
/// Where both are given, rope_scaling counts if it is not null, as in transformers. Throws Error
/// for any rope_type but "default" and "llama3".
void read_rope(const ConfigReader& reader, ModelConfig& config);

/// Adds the keys of both spellings, so that either version of transformers reads them.
void write_rope(const ModelConfig& config, Json& json);

}  // namespace lie
