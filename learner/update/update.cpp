#include "learner/update/update.h"

#include <algorithm>
#include <cmath>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "common/base/trace_range.h"
#include "learner/update/shared_results.h"
#include "learner/update/token_terms.h"

namespace lie {

/// The responses of one update, and the packed micro-batches of this learner's share.
struct PolicyUpdater::MiniBatch {
  std::vector<ResponseIndex> indices;
  Denominators whole;
  PackedGradientShards shards;
  /// Log-probs and entropies before any update. Empty unless the loss needs them.
  TokenValues before = {};
  std::vector<std::vector<TokenTerm>> terms = {};  // [indices][T], empty without token rules
};

/// The inputs that stay the same during one pass over one mini-batch.
struct PolicyUpdater::Pass {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int32_t mini_batch = 0;
  std::span<const ScoredGroup> groups;
  std::span<const GroupAdvantages> advantages;
};

/// The sums that a micro-batch adds to: those of its gradient shard and of its worker.
struct PolicyUpdater::WorkerSums {
  PolicyLossStats& stats;
  UpdateSeconds& seconds;
};

void UpdateSeconds::add_mean(std::span<const UpdateSeconds> workers) {
  const auto count = static_cast<double>(workers.size());
  for (const UpdateSeconds& worker : workers) {
    forward += worker.forward / count;
    backward += worker.backward / count;
  }
}

namespace {

/// Runs `work` and adds the seconds it took to `seconds`.
template <typename Work>
auto timed(double& seconds, Work&& work) {
  const Timed timing(seconds);
  return work();
}

/// Returns the values of sequence s, of all values of the micro-batch.
template <typename Values>
auto rows_of(Values& values, const MicroBatch& micro, std::size_t s) {
  return std::span(values).subspan(micro.row_starts[s],
                                   micro.row_starts[s + 1] - micro.row_starts[s]);
}

void note_first_pass(const SequenceOutcome& outcome, std::span<const float> log_probs,
                     LearnerResult& response) {
  response.sequence_log_ratio = static_cast<float>(outcome.log_ratio);
  response.clipped = outcome.clipped;
  response.log_probs.assign(log_probs.begin(), log_probs.end());
}

LearnerResult& response_of(StepUpdate& update, ResponseIndex index) {
  return update.responses[index.group][index.sample];
}

void check_groups(std::span<const ScoredGroup> groups,
                  std::span<const GroupAdvantages> advantages) {
  if (groups.size() != advantages.size()) {
    fail("update: {} groups but advantages of {}", groups.size(), advantages.size());
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& responses = groups[g].rollout.responses;
    const bool sizes_agree = advantages[g].values.size() == responses.size() &&
                             std::all_of(responses.begin(), responses.end(), [](const auto& r) {
                               return r.ids.size() == r.behavior_log_probs.size();
                             });
    if (!sizes_agree)
      fail("update: group {} has unequal counts of ids, log-probs or advantages", g);
  }
}

}  // namespace

PolicyUpdater::PolicyUpdater(const UpdateOptions& options, ShardedTrainer& trainer,
                             Transformer* reference, Transformer* teacher)
    : options_(options), trainer_(trainer) {
  check_options(options_.loss);
  if (options_.loss.kl_coefficient > 0) {
    if (reference == nullptr) {
      fail("policy_loss.kl_coefficient: a KL term needs the reference policy, and none was loaded");
    }
    references_.emplace(trainer_.workers(), *reference, 0);
  }
  if (teacher_of(options_.loss).empty()) return;
  if (teacher == nullptr) fail("policy_loss: distillation needs a teacher, and none was loaded");
  teachers_.emplace(trainer_.workers(), *teacher, 0);
}

StepUpdate PolicyUpdater::run(std::int64_t step, std::span<const ScoredGroup> groups,
                              std::span<const GroupAdvantages> advantages) {
  check_groups(groups, advantages);
  StepUpdate update;
  for (const ScoredGroup& group : groups) {
    const std::vector<Response>& responses = group.rollout.responses;
    update.responses.emplace_back(responses.size());
    const GroupAdvantages& own = advantages[update.responses.size() - 1];
    update.masked += std::ranges::count_if(responses, [&](const Response& response) {
      return !has_loss(options_.loss, response, own);
    });
  }
  std::vector<MiniBatch> batches;
  for (auto& indices : cut_mini_batches(groups, options_.batch.mini_batch_prompts)) {
    batches.push_back(prepare(groups, advantages, std::move(indices)));
  }
  Pass pass{step, 0, 0, groups, advantages};
  prepare_tokens(pass, batches, update);
  for (pass.epoch = 0; pass.epoch < options_.batch.epochs; ++pass.epoch) {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      pass.mini_batch = static_cast<std::int32_t>(b);
      update.mini_batches.push_back(update_once(pass, batches[b], update));
    }
  }
  share_responses(trainer_.learners(), groups, update.responses);
  return update;
}

PolicyUpdater::MiniBatch PolicyUpdater::prepare(std::span<const ScoredGroup> groups,
                                                std::span<const GroupAdvantages> advantages,
                                                std::vector<ResponseIndex> indices) const {
  std::vector<SequenceTokens> sequences;
  for (const ResponseIndex index : indices) sequences.push_back(sequence_tokens(groups, index));
  MiniBatch batch;
  batch.whole = denominators(options_.loss, groups, advantages, indices);
  batch.shards = trainer_.pack(sequences);
  batch.indices = std::move(indices);
  return batch;
}

/// Serves messages of other ranks after a micro-batch, on this rank's own thread.
void PolicyUpdater::poll_progress(const MicroBatchWork& done) const {
  if (done.worker == 0) poll_progress_();
}

void PolicyUpdater::pass_before_update(MiniBatch& batch, UpdateSeconds& seconds) {
  const TraceRange range("old log-probs");
  const auto temperature = static_cast<float>(options_.temperature);
  batch.before.log_probs.resize(batch.indices.size());
  batch.before.entropies.resize(batch.indices.size());
  if (teachers_) batch.before.teacher_log_probs.resize(batch.indices.size());
  std::vector<UpdateSeconds> of_workers(trainer_.workers().size());
  trainer_.for_each_micro_batch(batch.shards, [&](const MicroBatchWork& work) {
    const MicroBatch& micro = work.batch;
    UpdateSeconds& own_seconds = of_workers[static_cast<std::size_t>(work.worker)];
    const RowLogProbs rows = timed(
        own_seconds.forward, [&] { return work.policy.forward(micro.packed, temperature, false); });
    for (std::size_t s = 0; s < micro.sequences.size(); ++s) {
      const std::size_t sequence = micro.sequences[s];
      const auto log_probs = rows_of(rows.log_probs, micro, s);
      const auto entropies = rows_of(rows.entropies, micro, s);
      batch.before.log_probs[sequence].assign(log_probs.begin(), log_probs.end());
      batch.before.entropies[sequence].assign(entropies.begin(), entropies.end());
    }
    if (teachers_) {
      const RowLogProbs taught = timed(own_seconds.forward, [&] {
        return teachers_->of(work.worker).forward(micro.packed, temperature, false);
      });
      for (std::size_t s = 0; s < micro.sequences.size(); ++s) {
        const auto log_probs = rows_of(taught.log_probs, micro, s);
        batch.before.teacher_log_probs[micro.sequences[s]].assign(log_probs.begin(),
                                                                  log_probs.end());
      }
    }
    poll_progress(work);
  });
  seconds.add_mean(of_workers);
}

/// Computes what the loss needs of tokens before the step's first update.
void PolicyUpdater::prepare_tokens(Pass pass, std::span<MiniBatch> batches, StepUpdate& update) {
  const PolicyLossOptions& loss = options_.loss;
  const bool reads = reads_entropies(loss) || loss.entropy_target.is_on() || teachers_.has_value();
  const bool is_shared = any_rule(loss) || loss.entropy_target.is_on();
  for (MiniBatch& batch : batches) {
    if (!loss.recompute_old_log_probs && !reads) break;
    pass_before_update(batch, update.seconds);
    if (!is_shared) continue;
    timed(update.seconds.gradient_sync, [&] {
      share_token_values(trainer_.learners(), pass.groups, batch.indices, batch.before);
    });
  }
  if (teachers_) check_teacher(pass, batches);
  if (loss.entropy_target.is_on()) aim_at_entropy(pass, batches, update);
  for (MiniBatch& batch : batches) {
    if (any_rule(loss)) apply_token_rules(pass, batch, update);
    ++pass.mini_batch;
  }
}

/// Throws Error, on every learner, if the teacher has no probability for a token.
void PolicyUpdater::check_teacher(const Pass& pass, std::span<const MiniBatch> batches) {
  for (const MiniBatch& batch : batches) {
    for (const std::vector<float>& response : batch.before.teacher_log_probs) {
      if (std::ranges::all_of(response, [](float p) { return std::isfinite(p); })) continue;
      fail(
          "step {}: the log-probs of policy_loss.distillation.teacher are not finite: its weights "
          "are corrupt; name another teacher",
          pass.step);
    }
  }
}

/// Sets the coefficient of the entropy term of this step, and that of the next.
void PolicyUpdater::aim_at_entropy(const Pass& pass, std::span<const MiniBatch> batches,
                                   StepUpdate& update) {
  PolicyLossOptions& loss = options_.loss;
  double sum = 0, tokens = 0;
  for (const MiniBatch& batch : batches) {
    for (std::size_t s = 0; s < batch.indices.size(); ++s) {
      const ResponseIndex index = batch.indices[s];
      const Response& response = pass.groups[index.group].rollout.responses[index.sample];
      if (!has_loss(loss, response, pass.advantages[index.group])) continue;
      for (const float entropy : batch.before.entropies[s]) sum += static_cast<double>(entropy);
      tokens += static_cast<double>(batch.before.entropies[s].size());
    }
  }
  loss.entropy_coefficient = 0;
  if (tokens > 0) {
    const double entropy = sum / tokens;
    loss.entropy_coefficient =
        applied_coefficient(loss.entropy_target, next_entropy_coefficient_, entropy);
    next_entropy_coefficient_ =
        next_coefficient(loss.entropy_target, next_entropy_coefficient_, entropy);
  }
  update.entropy_coefficient = loss.entropy_coefficient;
  update.next_entropy_coefficient = next_entropy_coefficient_;
}

/// Computes the terms of a mini-batch's tokens, which each learner knows for all of them.
void PolicyUpdater::apply_token_rules(const Pass& pass, MiniBatch& batch, StepUpdate& update) {
  const PolicyLossOptions& loss = options_.loss;
  batch.terms = token_terms(loss, pass.groups, pass.advantages, batch.indices, batch.before,
                            {.seed = options_.seed,
                             .stream = kTokenRuleStream,
                             .step = static_cast<std::uint32_t>(pass.step),
                             .problem = static_cast<std::uint32_t>(pass.mini_batch)},
                            update.rule_counts);
}

MiniBatchUpdate PolicyUpdater::update_once(const Pass& pass, const MiniBatch& batch,
                                           StepUpdate& update) {
  const TraceRange range("mini-batch", pass.mini_batch);
  MiniBatchUpdate result;
  result.epoch = pass.epoch;
  if (pass.epoch == 0) {
    for (const ResponseIndex index : batch.indices) {
      const double advantage = pass.advantages[index.group].values[index.sample];
      response_of(update, index).advantage = static_cast<float>(advantage);
      response_of(update, index).mini_batch = pass.mini_batch;
    }
  }
  result.stats = run_micro_batches(pass, batch, update);
  result.optimizer = trainer_.update(pass.step, update.seconds);
  return result;
}

/// Runs forward and backward over this learner's micro-batches. Returns the statistics over all
/// learners.
PolicyLossStats PolicyUpdater::run_micro_batches(const Pass& pass, const MiniBatch& batch,
                                                 StepUpdate& update) {
  std::vector<PolicyLossStats> stats(static_cast<std::size_t>(batch.shards.count));
  std::vector<UpdateSeconds> seconds(trainer_.workers().size());
  trainer_.accumulate_gradient(batch.shards, [&](const MicroBatchWork& work) {
    accumulate(pass, batch, work,
               {stats[static_cast<std::size_t>(work.shard)],
                seconds[static_cast<std::size_t>(work.worker)]},
               update);
    poll_progress(work);
  });
  update.seconds.add_mean(seconds);
  return timed(update.seconds.gradient_sync,
               [&] { return sum_stats(trainer_.learners(), batch.shards.own_shards, stats); });
}

SequenceInput PolicyUpdater::sequence_input(const Pass& pass, const MiniBatch& batch,
                                            std::size_t sequence) const {
  const ResponseIndex index = batch.indices[sequence];
  const Response& sampled = pass.groups[index.group].rollout.responses[index.sample];
  SequenceInput input;
  input.behavior_log_probs = sampled.behavior_log_probs;
  input.old_log_probs = options_.loss.recompute_old_log_probs ? batch.before.log_probs[sequence]
                                                              : sampled.behavior_log_probs;
  input.advantage = pass.advantages[index.group].values[index.sample];
  input.weight = weight_of(options_.loss, batch.whole, sampled, pass.advantages[index.group]);
  if (!batch.terms.empty()) input.terms = batch.terms[sequence];
  return input;
}

void PolicyUpdater::accumulate(const Pass& pass, const MiniBatch& batch, const MicroBatchWork& work,
                               const WorkerSums& sums, StepUpdate& update) {
  const MicroBatch& micro = work.batch;
  const PolicyLossOptions& loss = options_.loss;
  const auto temperature = static_cast<float>(options_.temperature);
  RowLogProbs rows, reference;
  timed(sums.seconds.forward, [&] {
    rows = work.policy.forward(micro.packed, temperature, true);
    if (references_) {
      reference = references_->of(work.worker).forward(micro.packed, temperature, false);
    }
  });
  std::vector<float> d_log_probs(rows.log_probs.size()), d_entropies(rows.log_probs.size());
  for (std::size_t s = 0; s < micro.sequences.size(); ++s) {
    SequenceInput input = sequence_input(pass, batch, micro.sequences[s]);
    input.log_probs = rows_of(rows.log_probs, micro, s);
    input.entropies = rows_of(rows.entropies, micro, s);
    if (references_) {
      input.reference_log_probs = rows_of(reference.log_probs, micro, s);
    }
    const SequenceOutcome outcome = policy_loss(loss, input, rows_of(d_log_probs, micro, s),
                                                rows_of(d_entropies, micro, s), sums.stats);
    if (pass.epoch == 0) {
      note_first_pass(outcome, loss.recompute_old_log_probs ? input.old_log_probs : input.log_probs,
                      response_of(update, batch.indices[micro.sequences[s]]));
    }
  }
  timed(sums.seconds.backward,
        [&] { work.policy.backward(micro.packed, d_log_probs, d_entropies, *work.gradient); });
}

}  // namespace lie
