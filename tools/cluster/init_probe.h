// The responses of a start policy to a few prompts, by which init chooses settings.
#pragma once

#include <cstdint>
#include <span>

#include "actors/rollout_options.h"
#include "common/rollout/rollout.h"
#include "tools/run/config/model_options.h"

namespace lie {

struct StartResponses {
  std::int64_t prompts = 0, responses = 0;
  std::int64_t correct = 0;    // responses that the verifier accepts
  std::int64_t cut = 0;        // responses that reach the limit
  std::int64_t mixed = 0;      // prompts with both kinds: only these teach accuracy
  double mean_tokens = 0;      // L_ref, end of sequence included
  std::int64_t longest = 0;    // tokens of the longest response that is not cut; 0: all are cut
  double words_per_token = 0;  // as coverage counts words

  /// Whether few enough responses are cut that their lengths say how long responses are.
  bool shows_lengths() const { return 2 * cut < responses; }
};

/// Samples `samples` responses to each prompt as training would, on all processors of this rank,
/// and shows its progress on standard error. The result depends on the seed only. Throws Error if
/// the model cannot be loaded.
StartResponses sample_start(const ModelOptions& model, std::span<const Prompt> prompts,
                            std::int64_t samples, const RolloutOptions& rollout);

}  // namespace lie
