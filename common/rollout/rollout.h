// The structs that flow: prompt -> ticket -> rollout group -> scored group -> trajectory log.
// Wire and file formats of them are described in common/comm/wire.h and common/trajectory/schema.h.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/rollout/verdict.h"

namespace lie {

/// One row of a dataset.
struct Prompt {
  std::int64_t problem = 0;      // row number in its dataset, from 0
  std::string text;              // what the prompt template is applied to
  std::string gold;              // right answer, as the verifier takes it
  std::string data_source;       // benchmark or corpus the row is from
  double reference_length = -1;  // L_ref in tokens; negative: not known
  std::string row = {};          // as JSON, where a program is asked about responses; else empty
};

/// What a group is generated for. Evaluation groups are scored and logged, never trained on.
enum class Purpose : std::uint8_t { kTrain = 0, kEvaluate = 1 };

/// Neighbouring samples of a group: `count` from number `first` on.
struct SampleRange {
  std::int32_t first = 0, count = 0;

  /// Whether a group of `samples` has all of them; there is at least one.
  bool is_within(std::int32_t samples) const {
    return first >= 0 && count >= 1 && first < samples && count <= samples - first;
  }
  bool operator==(const SampleRange&) const = default;
};

/// Neighbouring tokens of one response that weights of one version have sampled.
struct VersionRun {
  std::int64_t policy_version = 0, tokens = 0;
  bool operator==(const VersionRun&) const = default;
};

/// A response's, from its first token on.
using VersionRuns = std::vector<VersionRun>;

/// One prompt to be answered: handed by the coordinator to an actor that asks.
struct Ticket {
  std::int64_t step = 0;   // training step, from 1; evaluation before training: step 0
  std::int64_t group = 0;  // position within the step and purpose: the canonical order
  /// Of the weights to generate with: number of training steps behind them. kAnyVersion: those that
  /// the actors have when it is handed out, and from then on it says which.
  std::int64_t policy_version = 0;
  static constexpr std::int64_t kAnyVersion = -1;
  Purpose purpose = Purpose::kTrain;
  std::int32_t samples = 0;  // G
  Prompt prompt;
  /// Which of them this ticket asks for, where others ask for the rest; empty: for all.
  SampleRange part = {};
  /// [samples], the weights that each token is to be of, where a schedule is followed through
  /// responses of several versions; empty: those that are there.
  std::vector<VersionRuns> planned = {};

  SampleRange asked() const { return part.count > 0 ? part : SampleRange{0, samples}; }
};

/// An actor's request to the coordinator.
struct TicketRequest {
  /// How many responses could begin. 0: it only asks whether there are new weights, and is answered
  /// at once, perhaps with no ticket.
  std::int64_t free_slots = 0;
  std::int64_t spare = 0;  // how many more it would hold, to begin them as others end
};

/// The coordinator's answer to an actor that asks for work.
struct Assignment {
  enum class Kind : std::uint8_t {
    kTickets = 0,  // generate these
    /// No ticket is left for these weights: finish what is in flight, then wait for the next ones.
    kWeights = 1,
    kFinish = 2,  // the run is over
  };
  Kind kind = Kind::kFinish;
  std::vector<Ticket> tickets;
};

enum class FinishReason : std::uint8_t { kEndOfSequence = 0, kLength = 1 };

/// One sampled response.
struct Response {
  std::vector<std::int32_t> ids;          // [T], with the end-of-sequence token where sampled
  std::vector<float> behavior_log_probs;  // [T], of logits / temperature over the whole vocabulary
  FinishReason finish = FinishReason::kLength;
  std::int32_t actor = 0;  // rank that generated it
  /// Of its tokens, where it may have taken new weights in flight; empty: all are of the ticket's.
  VersionRuns versions = {};
};

/// The weights that sampled a response to the ticket, which cover all of its tokens.
inline VersionRuns versions_of(const Ticket& ticket, const Response& response) {
  if (!response.versions.empty()) return response.versions;
  return {{ticket.policy_version, static_cast<std::int64_t>(response.ids.size())}};
}

/// An actor's clock as it sent its responses.
struct ActorClock {
  std::int32_t actor = 0;  // rank
  RoleClock clock;
};

/// The G responses to one prompt, or, until its parts are merged, those to one ticket.
struct RolloutGroup {
  Ticket ticket;
  std::vector<std::int32_t> prompt_ids;
  std::vector<Response> responses;         // [ticket.asked().count], by sample number
  std::int32_t prompt_tokens_dropped = 0;  // by left truncation
  std::vector<ActorClock> actor_clocks = {};
};

/// A reward term by name: its column is /sample/reward_<name>, its metrics reward_<name>_mean and
/// advantage_mass_<name>.
struct RewardName {
  std::string name;
  std::string about;  // for reports: "R_acc"
};

/// The reward terms of a run, in the order in which they are added up; fixed when it starts.
using RewardNames = std::vector<RewardName>;

/// A further number of a response, of a reward or verifier program or of coverage.metric_ngrams:
/// column /sample/<name>, metric <name>_mean.
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
  std::vector<float> rewards;  // by term, in the order of the run
  std::vector<NamedNumber> numbers;
  Coverage coverage;
  std::string extracted;  // the answer as found in the response
  /// The reward: what the advantage is made of.
  float reward() const { return std::accumulate(rewards.begin(), rewards.end(), 0.0F); }
};

/// A whole rollout group with a score for each response.
struct ScoredGroup {
  RolloutGroup rollout;
  std::vector<Score> scores;  // [G]
  /// [G] decoded responses where coverage units are words, else empty.
  std::vector<std::string> texts;
  std::int32_t reward_worker = 0;  // rank that scored it
  RoleClock reward_clock;
};

}  // namespace lie
