// The structs passed between roles: prompt -> ticket -> rollout group -> scored group -> trajectory
// log. Their wire format is described in common/comm/wire.h, their file format in
// common/trajectory/schema.h.
#pragma once

#include <compare>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/rollout/verdict.h"

namespace lie {

/// Identifies a training group by the place where the prompt stream drew it. Random keys are
/// derived from this identity, whichever step trains on the group.
struct DrawnGroup {
  std::int64_t step = -1;   // step that drew the prompt
  std::int64_t group = -1;  // position within that step
  auto operator<=>(const DrawnGroup&) const = default;
};

/// One row of a dataset.
struct Prompt {
  std::int64_t problem = 0;      // row number in its dataset, from 0
  std::string text;              // the prompt with its template applied
  std::string gold;              // correct answer, in a form that the verifier accepts
  std::string data_source;       // benchmark or corpus of the row
  double reference_length = -1;  // L_ref in tokens; negative: unknown
  std::string row = {};          // the row as JSON if reward or verifier programs run; else empty
};

/// The purpose of a group. Evaluation groups are scored and logged, but never trained on.
enum class Purpose : std::uint8_t { kTrain = 0, kEvaluate = 1 };

/// A contiguous range of a group's samples: `count` samples from number `first` on.
struct SampleRange {
  std::int32_t first = 0, count = 0;

  /// Returns whether the range is not empty and lies within a group of `samples` samples.
  bool is_within(std::int32_t samples) const {
    return first >= 0 && count >= 1 && first < samples && count <= samples - first;
  }
  bool operator==(const SampleRange&) const = default;
};

/// A run of consecutive tokens of one response that were sampled with one policy version.
struct VersionRun {
  std::int64_t policy_version = 0, tokens = 0;
  bool operator==(const VersionRun&) const = default;
};

/// The version runs of a response, in token order.
using VersionRuns = std::vector<VersionRun>;

/// A request to generate the responses to one prompt. The coordinator hands tickets to actors that
/// request work.
struct Ticket {
  std::int64_t step = 0;   // training step, from 1; evaluation before training: step 0
  std::int64_t group = 0;  // position within the step and purpose: the canonical order
  /// Version of the weights to generate with: the number of training steps that made them.
  /// kAnyVersion: the version that the actors have at hand-out, which then replaces kAnyVersion.
  std::int64_t policy_version = 0;
  static constexpr std::int64_t kAnyVersion = -1;
  Purpose purpose = Purpose::kTrain;
  std::int32_t samples = 0;  // G
  Prompt prompt;
  /// The samples of the group that this ticket requests, if other tickets request the rest. Empty:
  /// all samples.
  SampleRange fragment = {};
  /// [samples] The policy version to use for each token, when a recorded schedule with several
  /// versions per response is replayed. Empty: the actor's current weights.
  std::vector<VersionRuns> planned = {};

  SampleRange asked() const { return fragment.count > 0 ? fragment : SampleRange{0, samples}; }
};

/// A request for tickets, from an actor to the coordinator.
struct TicketRequest {
  /// Number of responses that could begin now. 0: the actor only checks for new weights. The
  /// coordinator then answers at once, perhaps without a ticket.
  std::int64_t free_slots = 0;
  std::int64_t spare = 0;  // responses that the actor would queue to begin as others finish
};

/// The coordinator's answer to a TicketRequest.
struct Assignment {
  enum class Kind : std::uint8_t {
    kTickets = 0,  // generate the responses of `tickets`
    /// No ticket is left for the current weights: finish the responses in flight, then wait for the
    /// next weights.
    kWeights = 1,
    kFinish = 2,  // the run is over
  };
  Kind kind = Kind::kFinish;
  std::vector<Ticket> tickets;
};

enum class FinishReason : std::uint8_t { kEndOfSequence = 0, kLength = 1 };

/// One sampled response.
struct Response {
  std::vector<std::int32_t> ids;          // [T], with the end-of-sequence token if it was sampled
  std::vector<float> behavior_log_probs;  // [T], from logits / temperature over all of [V]
  FinishReason finish = FinishReason::kLength;
  std::int32_t actor = 0;  // rank that generated it
  /// Versions of the response's tokens, if weights may change in flight. Empty: all tokens were
  /// sampled with the ticket's version.
  VersionRuns versions = {};
};

/// Returns the policy versions that sampled a response to the ticket. They cover all its tokens.
inline VersionRuns versions_of(const Ticket& ticket, const Response& response) {
  if (!response.versions.empty()) return response.versions;
  return {{ticket.policy_version, static_cast<std::int64_t>(response.ids.size())}};
}

/// An actor's clock at the time when it sent its responses.
struct ActorClock {
  std::int32_t actor = 0;  // rank
  RoleClock clock;
};

/// The G responses to one prompt. Before partial groups are merged: the responses to one ticket.
struct RolloutGroup {
  Ticket ticket;
  std::vector<std::int32_t> prompt_ids;
  std::vector<Response> responses;         // [ticket.asked().count], by sample number
  std::int32_t prompt_tokens_dropped = 0;  // tokens that left truncation removed from the prompt
  std::vector<ActorClock> actor_clocks = {};
};

/// The name of a reward term. The term's column is /sample/reward_<name>, and its metrics are
/// reward_<name>_mean and advantage_mass_<name>.
struct RewardName {
  std::string name;
  std::string about;  // label in reports: "R_acc"
};

/// The reward terms of a run, in summation order. The list is fixed when the run starts.
using RewardNames = std::vector<RewardName>;

/// An additional number per response. It comes from a reward program, a verifier program or
/// coverage.metric_ngrams. Its column is /sample/<name>, its metric <name>_mean.
struct NamedNumber {
  std::string name;  // "command_...", "verifier_...", "c_context_10", "r_context_10"
  double value = 0;
};

/// n-gram statistics of one response.
struct Coverage {
  std::int64_t distinct_ngrams = 0;  // C_context
  std::int64_t ngrams = 0;           // units - n + 1, or 0
  std::int32_t largest_repeat = 0;   // occurrences of the most frequent n-gram
  double ratio() const {             // R_context
    return ngrams > 0 ? static_cast<double>(distinct_ngrams) / static_cast<double>(ngrams) : 1.0;
  }
};

/// A reward worker's result for one response.
struct Score {
  VerdictCode verdict = VerdictCode::kNoAnswer;
  float verify_seconds = 0;
  double target_length = 0;    // L_target in tokens
  std::vector<float> rewards;  // one per term, in the run's order
  std::vector<NamedNumber> numbers;
  Coverage coverage;
  std::string extracted;  // the answer that was extracted from the response
  /// Returns the total reward, from which the advantage is computed.
  float reward() const { return std::accumulate(rewards.begin(), rewards.end(), 0.0F); }
};

/// A complete rollout group with a score for each response.
struct ScoredGroup {
  RolloutGroup rollout;
  std::vector<Score> scores;  // [G]
  /// [G] The decoded responses if coverage units are words, else empty.
  std::vector<std::string> texts;
  std::int32_t reward_worker = 0;  // rank that scored it
  RoleClock reward_clock;
};

}  // namespace lie
