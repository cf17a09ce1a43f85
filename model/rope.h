// Rotary position embedding: the table of angles, for Hugging Face's convention (rotation of
// halves).
#pragma once

#include <cstdint>
#include <vector>

#include "model/model_config.h"

namespace lie {

/// Radians per position of each of the E/2 pairs.
std::vector<double> rope_frequencies(const ModelConfig& config);

/// [positions, E] fp32: each row E/2 cosines, then E/2 sines, rounded once from double.
std::vector<float> rope_table(const ModelConfig& config, std::int64_t positions);

}  // namespace lie
