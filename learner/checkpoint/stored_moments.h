// AdamW's moments in the files of a checkpoint, one for each learner that held a shard of them.
//
// A tensor is "first_moment.<parameter>" or "second_moment.<parameter>", fp32 [rows, cols]. A
// parameter that learners shared is in several files, in their order: its elements end to end,
// [count] each.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "learner/update/optimizer.h"
#include "model/weights/safetensors.h"
#include "model/weights/weights.h"

namespace lie {

/// Writes the optimizer's shard of the moments. `weights` say where parameters lie.
void save_moments(const AdamW& optimizer, const Weights& weights,
                  const std::filesystem::path& file);

/// All moments of a checkpoint, for a shard of any size to be read.
class StoredMoments {
 public:
  /// Throws Error unless the checkpoint's files named optimizer* hold exactly these parameters'.
  StoredMoments(const std::filesystem::path& checkpoint, std::span<const Parameter> layout);

  /// Sets the optimizer's shard.
  void read(const AdamW& optimizer, Operators& operators) const;

 private:
  /// A moment of one parameter: whole, or in pieces end to end.
  using Pieces = std::vector<const SafetensorsEntry*>;

  std::vector<Pieces> matching(const std::filesystem::path& checkpoint) const;
  static bool fit(const Pieces& pieces, const TensorShape& whole);
  static void read_pieces(Operators& operators, const Pieces& pieces, std::int64_t first,
                          Tensor to);

  std::span<const Parameter> layout_;
  std::vector<SafetensorsFile> files_;
  std::vector<Pieces> pieces_;  // first moments in flat order, then second
};

}  // namespace lie
