// The table of angles of the rotary position embedding, in Hugging Face's convention (rotation of
// halves). Frequencies and angles are rounded to fp32 in the places where transformers rounds them,
// because models were trained with those angles. At position 2,000 the exact angles differ by up to
// 1e-4 radians.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config/model_config.h"
#include "model/operators/operators.h"

namespace lie {

/// Returns the radians per position of each of the E/2 pairs.
std::vector<float> rope_frequencies(const ModelConfig& config);

/// Returns the table [positions, E] in fp32. Each row holds E/2 cosines, then E/2 sines.
std::vector<float> rope_table(const ModelConfig& config, std::int64_t positions);

/// The table of angles up to the largest position so far.
class RopeTable {
 public:
  /// Extends the table to `end` positions. Throws Error beyond max_position_embeddings.
  void grow(const ModelConfig& config, Operators& operators, std::int64_t end);
  Tensor view() const { return memory_.view(); }  // [positions, E] fp32

 private:
  Buffer memory_;
};

}  // namespace lie
