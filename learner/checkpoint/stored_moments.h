// AdamW's moments in the files of a checkpoint, one file for each learner that held a shard of
// them.
//
// A tensor is "first_moment.<parameter>" or "second_moment.<parameter>", fp32 [rows, cols]. A
// parameter across shards is in several files, in the order of the learners: consecutive elements,
// [count] in each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "learner/trainer/optimizer.h"
#include "model/weights/safetensors.h"
#include "model/weights/weights.h"

namespace lie {

/// Writes the optimizer's shard of the moments. `weights` gives the layout of the parameters.
void save_moments(const AdamW& optimizer, const Weights& weights,
                  const std::filesystem::path& file);

/// All moments of a checkpoint, from which a shard of any size can be read.
class StoredMoments {
 public:
  /// Throws Error unless the files named optimizer* hold the moments of exactly these parameters.
  StoredMoments(const std::filesystem::path& checkpoint, std::span<const Parameter> layout);

  /// Sets the moments of the optimizer's shard.
  void read(const AdamW& optimizer) const;

 private:
  /// A moment of one parameter: one tensor, or consecutive pieces.
  using Pieces = std::vector<const SafetensorsEntry*>;

  std::vector<Pieces> matching(const std::filesystem::path& checkpoint) const;
  static bool fit(const Pieces& pieces, const TensorShape& moment);
  static void read_pieces(Operators& operators, const Pieces& pieces, std::int64_t first,
                          Tensor to);

  std::span<const Parameter> layout_;
  std::vector<SafetensorsFile> files_;
  std::vector<Pieces> pieces_;  // first moments in flat order, then second
};

}  // namespace lie
