// The keys of a config.json for the rotary embedding, in the form of transformers 4 and 5.
#pragma once

#include "model/config/config_reader.h"
#include "model/config/model_config.h"

namespace lie {

/// Sets rope_theta and llama3_rope. transformers 5 writes rope_parameters {rope_theta, rope_type,
/// ...}. transformers 4 writes rope_theta and rope_scaling {rope_type or type, ...} at top level.
/// If both exist, a rope_scaling that is not null has precedence, as in transformers. Throws Error
/// for any rope_type except "default" and "llama3".
void read_rope(const ConfigReader& reader, ModelConfig& config);

/// Writes the keys of both forms, so that either version of transformers reads them.
void write_rope(const ModelConfig& config, Json& json);

}  // namespace lie
