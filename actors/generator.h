// The rollout engine: continuous batching of all responses in flight over one paged KV cache.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <vector>

#include "actors/logit_store.h"
#include "actors/rollout_options.h"
#include "common/rollout.h"
#include "model/kv_cache.h"
#include "model/transformer.h"

namespace lie {

/// A prompt's token ids, template and all.
using EncodePrompt = std::function<std::vector<std::int32_t>(const Prompt&)>;

/// Pages of the KV cache: for all slots at their longest, or as many as the memory limit allows.
/// Throws Error if the options do not fit the model, or the cache cannot hold even one response.
std::int64_t kv_cache_pages(const ModelConfig& model, const RolloutOptions& options);

/// Turns tickets into rollout groups. With the CPU operators the ids and log-probs of a response
/// depend on weights, prompt, sampling options and random key alone: not on slots, cache size,
/// order of tickets or neighbours (invariant E3); with ATen's operators rounding also depends on
/// the neighbours. One thread.
class Generator {
 public:
  /// Keeps references to policy and operators. Throws Error as kv_cache_pages() does.
  Generator(Transformer& policy, Operators& operators, const ModelConfig& model,
            const RolloutOptions& options, std::uint64_t seed, EncodePrompt encode);

  /// Queues a ticket. Throws Error naming the problem's row if its prompt is empty, or has ids the
  /// model does not know, or samples are asked for that its group does not have.
  void add(Ticket ticket);

  /// How many more responses could begin: the slots that no response of its tickets will take.
  std::int64_t room() const;
  std::int64_t slots() const { return options_.slots; }
  /// Whether nothing is queued or in flight.
  bool idle() const { return waiting_.empty() && open_.empty(); }

  // New weights (actors/in_flight_weights.cpp).
  /// Whether the policy's weights may change now.
  bool may_take_weights() const;
  /// Whether all that is in flight is planned for newer weights: step() would do nothing.
  bool awaits_weights() const;
  /// The policy has these weights from now on; responses in flight go on under them. `attend` is
  /// called between the forward passes that compute caches again.
  void take_weights(std::int64_t policy_version, const std::function<void()>& attend = {});

  /// One forward pass: a token for every running response, a chunk of the prompts being read, and
  /// the first token of responses for which slots are free. Logits stay with the operators; ids and
  /// log-probs are copied to the host once. Returns the finished groups, as far as they were asked
  /// for. Throws Error where a ticket's plan cannot be followed.
  std::vector<RolloutGroup> step();

  std::int64_t free_pages() const { return cache_.free_pages(); }
  std::int64_t tokens_generated() const { return tokens_generated_; }

 private:
  /// A ticket, for a group or a part, whose prompt is in the cache or on its way there.
  struct Group {
    RolloutGroup rollout;
    std::int32_t prompt_sequence = -1;  // handle in the cache; closed when all samples have begun
    std::int64_t prompt_read = 0;       // tokens in the cache
    std::int64_t first_logits = -1;  // row of those behind the prompt; -1: not read, or all begun
    std::int64_t version = 0;        // of the weights that computed them
    std::int32_t begun = 0;
    std::int32_t finished = 0;
    std::int32_t free_seats = 0;  // reservations for one sample's pages each, not in use
    std::int64_t prompt_pages = 0;
    std::int64_t sample_pages = 0;  // of one sample at its longest, besides the prompt's full pages
  };
  /// A response in flight.
  struct Running {
    Group* group = nullptr;
    std::int32_t sample = 0;  // position among those that its ticket asks for
    std::int32_t sequence = -1;
  };
  /// Prompt tokens of one group within a forward pass.
  struct PromptChunk {
    Group* group = nullptr;
    std::int64_t tokens = 0;
  };

  static std::int32_t samples_of(const Group& group);
  static Response& response_of(const Running& running);
  static std::int32_t number_of(const Running& running);
  const SamplingOptions& sampling(const Ticket& ticket) const;
  bool reserve(std::int64_t pages);
  void open_groups();
  void lay_out_rows();
  void lay_out_prompts();
  void keep_first_logits(Tensor logits);
  void begin_samples();
  bool take_seat(Group& group);
  void begin_sample(Group& group);
  Draw draw_for(const Running& running, std::int64_t row) const;
  void draw_tokens(Tensor logits, std::int64_t decoded);
  void take_tokens();
  bool append_token(const Running& running, std::int32_t id, float log_prob);
  void finish_sample(Group& group);
  bool is_being_read(const Group& group) const { return group.begun == 0 && group.first_logits < 0; }
  bool may_begin_sample(const Group& group) const;
  void note_version(const Running& running);
  bool is_planned_for_later(const Running& running) const;
  void go_on_with_paused();
  void check_progress() const;
  void read_again(Group& group);
  void recompute(Group& group, const std::function<void()>& attend);
  Tensor feed(std::span<const DecodeRow> rows, const std::function<void()>& attend);
  std::vector<RolloutGroup> take_finished();

  Transformer& policy_;
  Operators& operators_;
  const std::int64_t vocabulary_;
  const RolloutOptions options_;
  const std::vector<std::int32_t> end_ids_;
  const std::uint64_t seed_;
  const EncodePrompt encode_;
  const std::int64_t pages_;
  KvCache cache_;
  LogitStore first_logits_;  // of prompts whose samples have not all begun
  Buffer ids_, log_probs_;   // [1, slots] the tokens that a pass draws
  std::vector<std::int32_t> host_ids_;
  std::vector<float> host_log_probs_;
  std::int64_t pages_reserved_ = 0;
  std::int64_t samples_to_begin_ = 0;  // of waiting and open groups
  std::deque<RolloutGroup> waiting_;   // tickets with their encoded prompts
  std::list<Group> open_;              // addresses are held by Running
  std::vector<Running> running_;       // those with a row in the pass, then those that begin in it
  std::vector<Running> paused_;        // whose next token is planned for newer weights
  std::int64_t version_ = 0;           // of the policy's weights
  bool follows_ = false;               // a plan
  std::vector<Draw> draws_;            // of running_
  std::vector<DecodeRow> rows_;
  std::vector<PromptChunk> chunks_;
  std::int64_t tokens_generated_ = 0;
};

}  // namespace lie
