// The rollout engine: continuous batching of all responses in flight over one paged KV cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <vector>

#include "actors/logit_store.h"
#include "actors/rollout_options.h"
#include "common/rollout/rollout.h"
#include "model/operators/operators.h"
#include "model/transformer/kv_cache.h"
#include "model/transformer/transformer.h"

namespace lie {

/// Returns a prompt's token ids, including its template.
using EncodePrompt = std::function<std::vector<std::int32_t>(const Prompt&)>;

/// Use of the KV cache since the generator was constructed.
struct CacheUse {
  std::int64_t pages = 0;               // of the cache
  std::int64_t peak_pages = 0;          // most pages in use at once
  std::int64_t peak_responses = 0;      // most responses in flight at once
  std::int64_t preempted = 0;           // preemptions for lack of pages
  std::int64_t tokens_reprefilled = 0;  // prompt and response tokens that preemptions discarded
};

/// Turns tickets into rollout groups. Not thread-safe.
///
/// Invariant E3: with the CPU operators, the ids and log-probs of a response depend only on
/// weights, prompt, sampling options and random key. They do not depend on slots, cache size, order
/// of tickets, neighbors or preemptions. With ATen's operators, rounding depends on these too.
///
/// Preemption: responses are ordered by age, first by ticket, then by position in the group. They
/// begin in this order while the cache is expected to hold them. A response is expected to hold
/// half the mean length so far, which is its average over its life. If the cache runs full
/// nevertheless, the youngest response is preempted: an older one gets its pages, and its tokens
/// are re-prefilled when pages are free. So the oldest responses are always in flight, and the
/// oldest one always advances.
///
/// Running ahead: on a device, a pass starts before the host knows the tokens that the previous
/// pass drew. Its rows read these ids in device memory, and the host receives them while the device
/// computes. The host therefore notices the end of a response one pass late, and drops the token
/// drawn after it. This changes no other token, because a random key depends only on the token's
/// place. The host waits for all tokens before it preempts and before weights change. It also does
/// so in every pass that follows a plan of policy versions.
class Generator {
 public:
  /// Keeps references to policy and operators. Throws Error as kv_cache_pages() does.
  Generator(Transformer& policy, Operators& operators, const ModelConfig& model,
            const RolloutOptions& options, std::uint64_t seed, EncodePrompt encode);

  /// Queues a ticket. Throws Error naming the problem's row if its prompt is empty or has ids
  /// outside the vocabulary, or if it requests samples that its group does not have.
  void add(Ticket ticket);

  /// Returns how many more responses could begin: slots that no queued response needs.
  std::int64_t free_slots() const;
  std::int64_t slots() const { return options_.slots; }
  /// Returns whether nothing is queued or in flight.
  bool idle() const { return groups_.empty(); }

  /// Runs one forward pass: the next token of every response in flight, a chunk of prefill (prompts
  /// and preempted responses), and the first token of responses for which slots are free. Logits
  /// stay in the operators' memory. Ids and log-probs are copied to the host once; on a device
  /// these are those of the previous pass. Returns the finished groups, each with the samples that
  /// its ticket requests. Throws Error if a ticket's plan cannot be followed.
  std::vector<RolloutGroup> step();

  /// Returns the configured minimum duration of a forward pass, 0 except in measurements.
  auto min_pass_duration() const { return std::chrono::milliseconds(options_.pass_milliseconds); }

  // ---- New weights: in_flight_weights.cpp.
  /// Returns whether responses in flight continue under new weights.
  bool weights_change_in_flight() const { return options_.weights_change_in_flight(); }
  /// Returns whether the policy's weights may change now.
  bool may_change_weights() const;
  /// Returns whether all responses in flight are planned for newer weights: step() would do
  /// nothing.
  bool waits_for_weights() const;
  /// Call after the policy's weights have changed to those of `policy_version`, between steps.
  /// Responses in flight continue under them.
  void weights_changed(std::int64_t policy_version);

  /// Preempts all responses in flight and drops all prompts, so that the current weights compute
  /// the whole cache again. Call between steps.
  void preempt_all();

  std::int64_t in_flight() const { return std::ssize(running_); }
  std::int64_t free_pages() const { return cache_.free_pages(); }
  std::int64_t tokens_generated() const { return tokens_generated_; }
  const CacheUse& cache_use() const { return use_; }

 private:
  /// A ticket and its responses: a group, or the part of one that the ticket requests.
  struct Group {
    RolloutGroup rollout;
    std::vector<std::int32_t> waiting;  // samples not in flight; the next to begin is at the back
    std::vector<std::int32_t> waiting_for_weights;  // likewise, but planned for newer weights
    std::int32_t prompt_sequence = -1;              // handle in the cache, held while samples wait
    std::int64_t first_logits = -1;  // row in first_logits_ once the prompt is prefilled
    std::int64_t version = 0;        // policy version that computed these logits
    std::int32_t finished = 0;       // responses
    std::int32_t samples() const { return rollout.ticket.asked().count; }
  };
  /// A response of a group.
  struct SampleId {
    Group* group = nullptr;
    std::int32_t position = 0;  // among the samples that the ticket requests
    bool operator==(const SampleId&) const = default;
    Response& response() const {
      return group->rollout.responses[static_cast<std::size_t>(position)];
    }
    /// Returns its number in the whole group.
    std::int32_t number() const { return group->rollout.ticket.asked().first + position; }
    /// Returns the tokens of prompt and response.
    std::int64_t tokens() const {
      return std::ssize(group->rollout.prompt_ids) + std::ssize(response().ids);
    }
  };
  /// A response in flight. The cache holds its prompt and some of its tokens.
  struct Running : SampleId {
    std::int32_t sequence = -1;  // handle in the cache
    std::int32_t place = -1;     // index of its last token in the pass that drew it, while unknown
  };
  /// A token that a pass draws. The group is null if the response ended before this token.
  struct DrawnToken : SampleId {
    std::size_t index = 0;  // in its response
  };
  /// Tokens that the host has not received yet.
  struct PendingTokens {
    std::vector<DrawnToken> tokens;
    ReceiveTokens receive;
  };
  static constexpr std::int32_t kUnknown = -1;  // id of a token that the host has not received

  const SamplingOptions& sampling(const Ticket& ticket) const;
  bool runs_ahead() const { return on_device_ && !follows_plan_; }
  std::vector<RolloutGroup> remove_finished();

  // The rows of a pass: generator_rows.cpp.
  bool next_pass_fits() const;
  bool has_all_tokens(const SampleId& sample) const;
  std::int64_t rows_wanted(const Running& running, std::int64_t prefill_rows) const;
  void add_rows();
  void add_response_rows(std::size_t place);
  void add_prompt_rows(Group& group);
  std::int64_t rows_that_fit(std::int32_t sequence, std::int64_t wanted) const;
  std::int64_t min_rows() const { return rows_.empty() ? 1 : 0; }
  void append_rows(std::int32_t sequence, std::span<const std::int32_t> prompt,
                   std::span<const std::int32_t> response, std::int64_t rows,
                   std::int32_t place = -1);

  // The tokens of a pass: generator_tokens.cpp.
  void keep_first_logits(Tensor logits);
  void draw_next(Running& running, std::int64_t row);
  void bar_ends(Tensor logits, std::int64_t decoded);
  void sample_tokens(Tensor logits, std::int64_t decoded);
  void append_unknown_tokens();
  void receive_tokens(PendingTokens& pending);
  bool store_token(const DrawnToken& drawn, std::int32_t id, float log_prob);
  void drop_extra_token(const Running& running);
  void end(const Running& running);

  // Which responses have pages of the cache: generator_pages.cpp.
  std::int64_t expected_tokens(const Ticket& ticket) const;
  std::int64_t pages_still_needed(const Group& group, std::int32_t position,
                                  std::int64_t held) const;
  std::int64_t pages_for_next_sample(const Group& group) const;
  std::int64_t spare_pages() const;
  bool is_prefilled(const Group& group) const;
  void open_prompts();
  void begin_samples();
  void begin_sample(Group& group);
  bool preempt_youngest(std::size_t keep);
  void preempt_last();
  void drop_prompt(Group& group);
  void release_first_logits(Group& group);
  void record_use();

  // Policy versions of tokens: in_flight_weights.cpp.
  bool is_due(const SampleId& sample) const;
  void plan_samples(Group& group);
  void record_version(const SampleId& sample);
  bool set_aside(const Running& running);
  void check_progress() const;

  Transformer& policy_;
  Operators& operators_;
  const std::int64_t vocabulary_;
  const std::optional<std::int64_t> begin_of_sequence_id_;
  const RolloutOptions options_;
  const std::vector<std::int32_t> end_ids_;
  const std::vector<std::int32_t> barred_ids_;  // end_ids_ and options_.barred_ids
  const std::uint64_t seed_;
  const EncodePrompt encode_;
  const bool on_device_;
  KvCache cache_;
  LogitStore first_logits_;  // of prompts whose samples have not all begun
  Buffer ids_, log_probs_;   // [1, slots] the tokens that a pass draws
  std::vector<std::int32_t> host_ids_;
  std::vector<float> host_log_probs_;
  std::int64_t samples_to_begin_ = 0;
  std::list<Group> groups_;       // oldest first; Running holds their addresses
  std::vector<Running> running_;  // oldest first; all are older than every waiting sample
  std::vector<Draw> draws_;       // of this pass, for responses whose tokens are all prefilled
  std::vector<std::int32_t> barred_rows_;  // of the logits of this pass's too short responses
  PendingTokens pending_;                  // tokens that draws_ draw
  PendingTokens previous_;                 // tokens of the previous pass; empty between passes
  std::vector<DecodeRow> rows_;            // of this pass
  std::vector<Group*> prefilled_;          // groups whose prompts these rows complete
  std::int64_t new_pages_ = 0;             // that these rows will take
  std::int64_t prefill_rows_left_ = 0;     // rows left in this pass besides one for each response
  std::int64_t finished_responses_ = 0, finished_tokens_ = 0;
  std::int64_t version_ = 0;   // of the policy's weights
  bool follows_plan_ = false;  // a ticket had a plan of policy versions
  CacheUse use_;
  std::int64_t tokens_generated_ = 0;
};

}  // namespace lie
