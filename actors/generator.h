// The rollout engine: continuous batching of all responses in flight over one paged KV cache.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <vector>

#include "actors/logit_store.h"
#include "actors/rollout_options.h"
#include "common/rollout/rollout.h"
#include "model/transformer/kv_cache.h"
#include "model/transformer/transformer.h"

namespace lie {

/// A prompt's token ids, template and all.
using EncodePrompt = std::function<std::vector<std::int32_t>(const Prompt&)>;

/// Pages of the KV cache, whose elements are `dtype`: for all slots at their longest, or as
/// many as the memory limit allows. Throws Error if the options do not fit the model, or the cache
/// cannot hold even one response.
std::int64_t kv_cache_pages(const ModelConfig& model, const RolloutOptions& options, DType dtype);

/// What became of the KV cache's pages since the generator was made.
struct CacheUse {
  std::int64_t pages = 0;               // of the cache
  std::int64_t peak_pages = 0;          // in use at once
  std::int64_t peak_responses = 0;      // in flight at once
  std::int64_t preempted = 0;           // responses, each time that one was for want of pages
  std::int64_t tokens_reprefilled = 0;  // of what was put back so, prompts too
};

/// Turns tickets into rollout groups. With the CPU operators the ids and log-probs of a response
/// depend on weights, prompt, sampling options and random key alone: not on slots, cache size,
/// order of tickets or neighbours, nor on how often it is put back (invariant E3); with ATen's
/// operators rounding also depends on these. One thread.
///
/// Responses have an age: that of their ticket, within a group of their number. The oldest begin
/// first, while the cache has pages for each at half of what responses came to so far, which is
/// what they hold over their lives. Where it is full nevertheless, the youngest is put back: it
/// loses its pages to an older one, and its tokens are read again when there is room. So those in
/// flight are always the oldest, and the oldest of all always goes on.
///
/// On a device a pass begins before the host knows what the pass before has drawn: its rows take
/// those ids where they were drawn, and the host reads them while the device works. That a response
/// has ended is found a pass late, and the token drawn behind its end is dropped, which changes no
/// other: a token's random key names its place. The host waits for all tokens first where responses
/// must be put back, where weights change, and where a plan says which weights a token is of.
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
  bool idle() const { return groups_.empty(); }

  /// One forward pass: a token for every running response, a chunk of what is being read, prompts
  /// and what was put back, and the first token of responses for which slots are free. Logits stay
  /// with the operators; ids and log-probs are copied to the host once, on a device those of the
  /// pass before. Returns the groups that they finish, as far as they were asked for. Throws Error
  /// where a ticket's plan cannot be followed.
  std::vector<RolloutGroup> step();

  /// What a forward pass is to take at least.
  auto least_pass() const { return std::chrono::milliseconds(options_.pass_milliseconds); }

  // New weights (actors/in_flight_weights.cpp).
  /// Whether responses in flight go on under them.
  bool weights_change_in_flight() const { return options_.weights_change_in_flight(); }
  /// Whether the policy's weights may change now.
  bool may_take_weights() const;
  /// Whether all that is in flight is planned for newer weights: step() would do nothing.
  bool awaits_weights() const;
  /// The policy has these weights from now on; responses in flight go on under them. Between steps.
  void take_weights(std::int64_t policy_version);

  /// Puts back all that is in flight and forgets the prompts: the cache is filled anew, under the
  /// weights that the policy has then. Between steps.
  void preempt_all();

  std::int64_t in_flight() const { return std::ssize(running_); }
  std::int64_t free_pages() const { return cache_.free_pages(); }
  std::int64_t tokens_generated() const { return tokens_generated_; }
  const CacheUse& cache_use() const { return use_; }

 private:
  /// A ticket, for a group or a part.
  struct Group {
    RolloutGroup rollout;
    std::vector<std::int32_t> waiting;  // samples not in flight, those to begin first at the back
    std::vector<std::int32_t> later;    // likewise, but planned for newer weights
    std::int32_t prompt_sequence = -1;  // handle in the cache, held only while samples wait
    std::int64_t first_logits = -1;     // row of those behind the prompt, once it is read
    std::int64_t version = 0;           // of the weights that computed them
    std::int32_t finished = 0;
  };
  struct Member {
    Group* group = nullptr;
    std::int32_t sample = 0;  // position among those that its ticket asks for
    bool operator==(const Member&) const = default;
  };
  /// A response in flight: the prompt is in the cache, and of its tokens what has been read.
  struct Running : Member {
    std::int32_t sequence = -1;
    std::int32_t place = -1;  // of its last token among those drawn, while the host has kUnknown
  };
  /// A token that a pass draws.
  struct Drawn : Member {   // of no group: the response has ended before it
    std::size_t index = 0;  // in its response
  };
  /// What the host does not know yet.
  struct DrawnPass {
    std::vector<Drawn> tokens;
    ReceiveTokens receive;
  };
  static constexpr std::int32_t kUnknown = -1;

  static std::int32_t samples_of(const Group& group);
  static Response& response_of(const Member& member);
  static std::int64_t tokens_of(const Member& member);
  static std::int32_t number_of(const Member& member);
  const SamplingOptions& sampling(const Ticket& ticket) const;
  bool runs_ahead() const { return on_device_ && !follows_; }
  bool has_pages_for_next() const;
  bool is_full(const Member& member) const;
  std::int64_t rows_wanted(const Running& running, std::int64_t prefill_rows) const;
  void lay_out_rows();
  void lay_out_response(std::size_t place);
  void lay_out_prompt(Group& group);
  std::int64_t rows_that_fit(std::int32_t sequence, std::int64_t wanted) const;
  std::int64_t least_rows() const { return rows_.empty() ? 1 : 0; }
  void lay_out(std::int32_t sequence, std::span<const std::int32_t> prompt,
               std::span<const std::int32_t> response, std::int64_t rows, std::int32_t place = -1);
  void keep_first_logits(Tensor logits);

  // Which responses have pages: generator_pages.cpp.
  std::int64_t tokens_to_hold(const Ticket& ticket) const;
  std::int64_t pages_to_come(const Group& group, std::int32_t sample, std::int64_t held) const;
  std::int64_t pages_of_next(const Group& group) const;
  std::int64_t spare_pages() const;
  bool is_read(const Group& group) const;
  void open_prompts();
  void begin_samples();
  void begin_sample(Group& group);
  bool preempt_youngest(std::size_t keep);
  void preempt_last();
  void forget_prompt(Group& group);
  void release_first_logits(Group& group);
  void note_use();

  // What is of which weights: in_flight_weights.cpp.
  bool is_due(const Member& member) const;
  void plan_samples(Group& group);
  void note_version(const Member& member);
  bool puts_by(const Running& running);
  void check_progress() const;

  void draw_next(Running& running, std::int64_t row);
  void draw_tokens(Tensor logits, std::int64_t decoded);
  void expect_tokens();
  void take_tokens(DrawnPass& drawn);
  bool take_token(const Drawn& drawn, std::int32_t id, float log_prob);
  void drop_last(const Running& running);
  void end(const Running& running);
  std::vector<RolloutGroup> take_finished();

  Transformer& policy_;
  Operators& operators_;
  const std::int64_t vocabulary_;
  const RolloutOptions options_;
  const std::vector<std::int32_t> end_ids_;
  const std::uint64_t seed_;
  const EncodePrompt encode_;
  const bool on_device_;
  KvCache cache_;
  LogitStore first_logits_;  // of prompts whose samples have not all begun
  Buffer ids_, log_probs_;   // [1, slots] the tokens that a pass draws
  std::vector<std::int32_t> host_ids_;
  std::vector<float> host_log_probs_;
  std::int64_t samples_to_begin_ = 0;
  std::list<Group> groups_;             // the oldest first; addresses are held by Running
  std::vector<Running> running_;        // the oldest first: all of them older than any that waits
  std::vector<Draw> draws_;             // of those of running_ that are read to their end
  DrawnPass drawn_;                     // by draws_
  DrawnPass before_;                    // of the pass before; empty between passes
  std::vector<DecodeRow> rows_;         // of the pass
  std::vector<Group*> read_;            // whose prompts they read to the end
  std::int64_t rows_pages_ = 0;         // that they will take
  std::int64_t prefill_rows_left_ = 0;  // rows, besides one for each response
  std::int64_t ended_ = 0, ended_tokens_ = 0;  // responses so far
  std::int64_t version_ = 0;                   // of the policy's weights
  bool follows_ = false;                       // a plan
  CacheUse use_;
  std::int64_t tokens_generated_ = 0;
};

}  // namespace lie
