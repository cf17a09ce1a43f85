// Options of generation: memory, batching and sampling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/options.h"
#include "model/config/model_config.h"

namespace lie {

/// Options of token sampling. The paper trains at temperature 1 and evaluates at 0.6, with top_p 1.
struct SamplingOptions {
  double temperature = 1.0;
  double top_p = 1.0;
  std::int64_t top_k = 0;
  std::int64_t max_response_tokens = 8192;
  /// A response does not end before this length. Log-probs of its tokens up to there are those of
  /// the policy without its ends, so it cannot be trained on.
  std::int64_t min_response_tokens = 0;
};
void describe(FieldList& fields, SamplingOptions& options);

/// Describes the sampling of evaluations, whose max_response_tokens may be 0 in a config.
void describe_evaluation(FieldList& fields, SamplingOptions& options);

/// The treatment of responses in flight when newer weights arrive.
enum class InFlightWeights : std::uint8_t {
  kFinish,          // they end under the old weights
  kKeepCache,       // they continue under the new weights with the old KV cache
  kRecomputeCache,  // they continue after the new weights have computed the KV cache again
};

/// Options of generation. Only `sampling`, `evaluation`, max_prompt_tokens, the ends of sequence,
/// barred_ids and in_flight_weights can change a token.
struct RolloutOptions {
  std::int64_t slots = 128;
  std::int64_t max_prompt_tokens = 1024;
  std::int64_t prefill_tokens = 512;
  std::int64_t cache_mebibytes = 0;  // 0: chosen by the device
  bool preemption = true;
  std::vector<std::int64_t> end_of_sequence_ids = {};
  std::vector<std::string> end_of_sequence_tokens = {};
  std::vector<std::int64_t> barred_ids = {};  // not drawn before min_response_tokens, like the ends
  InFlightWeights in_flight_weights = InFlightWeights::kFinish;
  std::int64_t pass_milliseconds = 0;
  SamplingOptions sampling = {};
  /// max_response_tokens 0 must be resolved before use.
  SamplingOptions evaluation{.temperature = 0.6, .max_response_tokens = 0};

  bool weights_change_in_flight() const { return in_flight_weights != InFlightWeights::kFinish; }
  std::int64_t longest_response() const {
    return std::max(sampling.max_response_tokens, evaluation.max_response_tokens);
  }
};

/// Lists all fields except `sampling` and `evaluation`, which commands add where they apply.
void describe(FieldList& fields, RolloutOptions& options);

/// Throws Error if the shortest allowed response is longer than the longest.
void check_lengths(const SamplingOptions& options, std::string_view section);

/// Returns the tokens that end a response: the options', or else the model's.
std::vector<std::int32_t> end_ids(const RolloutOptions& options, const ModelConfig& model);

/// Throws Error if the longest prompt and response together exceed the model's positions, or if
/// barred_ids names a token that the model does not have, or leaves none.
void check_fits_model(const RolloutOptions& options, const ModelConfig& model);

}  // namespace lie
