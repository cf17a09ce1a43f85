// Rotary position embedding: the table of angles, for Hugging Face's convention (rotation of
// halves). Frequencies and angles are rounded to fp32 where transformers rounds them: models were
// trained with those angles, and at position 2,000 the exact ones differ by up to 1e-4 radians.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/model_config.h"

namespace lie {

/// Radians per position of each of the E/2 pairs.
std::vector<float> rope_frequencies(const ModelConfig& config);

/// [positions, E] fp32: each row E/2 cosines, then E/2 sines.
std::vector<float> rope_table(const ModelConfig& config, std::int64_t positions);

}  // namespace lie
