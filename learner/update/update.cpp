#include "learner/update/update.h"

#include <algorithm>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "learner/update/shared_results.h"

namespace lie {

/// The responses of one update, and the packed micro-batches of this learner's share.
struct PolicyUpdater::MiniBatch {
  std::vector<ResponseIndex> indices;
  Denominators whole;
  PackedGradientShards shards;
  /// [indices][T] Log-probs before any update, for this learner's share. Empty unless
  /// recompute_old_log_probs is on.
  std::vector<std::vector<float>> old_log_probs = {};
};

/// The inputs that stay the same during one pass over one mini-batch.
struct PolicyUpdater::Pass {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  std::int32_t mini_batch = 0;
  std::span<const ScoredGroup> groups;
  std::span<const GroupAdvantages> advantages;
};

/// The worker of a gradient shard, and the sums that its sequences add to.
struct PolicyUpdater::GradientShard {
  std::int64_t worker = 0;
  Tensor gradient;
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

PolicyUpdater::PolicyUpdater(const UpdateOptions& options, UpdateParts parts)
    : options_(options),
      parts_(parts),
      gradient_(parts.weights.operators(), parts.learners,
                flat_elements(parts.weights.parameters()), options.batch.gradient_shards,
                "update.gradient_shards"),
      policies_(gradient_.workers(), parts.policy, options.batch.activation_mebibytes << 20) {
  check_options(options_.loss);
  options_.batch.max_micro_batch_tokens =
      gradient_.pass_tokens(options_.batch.max_micro_batch_tokens);
  if (options_.loss.kl_coefficient == 0) return;
  if (parts_.reference == nullptr) {
    fail("policy_loss.kl_coefficient: a KL term needs the reference policy, and none was loaded");
  }
  references_.emplace(gradient_.workers(), *parts_.reference, 0);
}

StepUpdate PolicyUpdater::run(std::int64_t step, std::span<const ScoredGroup> groups,
                              std::span<const GroupAdvantages> advantages) {
  check_groups(groups, advantages);
  StepUpdate update;
  for (const ScoredGroup& group : groups) {
    const std::vector<Response>& responses = group.rollout.responses;
    update.responses.emplace_back(responses.size());
    update.masked += std::ranges::count_if(
        responses, [&](const Response& response) { return !has_loss(options_.loss, response); });
  }
  std::vector<MiniBatch> batches;
  for (auto& indices : cut_mini_batches(groups, options_.batch.mini_batch_prompts)) {
    batches.push_back(prepare(groups, std::move(indices)));
  }
  Pass pass{step, 0, 0, groups, advantages};
  if (options_.loss.recompute_old_log_probs) {
    for (MiniBatch& batch : batches) recompute_old(batch, update.seconds);
  }
  for (pass.epoch = 0; pass.epoch < options_.batch.epochs; ++pass.epoch) {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      pass.mini_batch = static_cast<std::int32_t>(b);
      update.mini_batches.push_back(update_once(pass, batches[b], update));
    }
  }
  share_responses(parts_.learners, groups, update.responses);
  return update;
}

PolicyUpdater::MiniBatch PolicyUpdater::prepare(std::span<const ScoredGroup> groups,
                                                std::vector<ResponseIndex> indices) const {
  std::vector<SequenceTokens> sequences;
  for (const ResponseIndex index : indices) sequences.push_back(sequence_tokens(groups, index));
  MiniBatch batch;
  batch.whole = denominators(options_.loss, groups, indices);
  batch.shards = pack_gradient_shards(sequences, options_.batch.gradient_shards,
                                      options_.batch.max_micro_batch_tokens, parts_.learners.rank(),
                                      parts_.learners.size());
  batch.indices = std::move(indices);
  return batch;
}

/// Calls work(micro-batch) for each micro-batch of a gradient shard, and polls progress after each.
template <typename Work>
void PolicyUpdater::each_micro_batch(const MiniBatch& batch, const GradientShardWork& shard,
                                     const Work& work) const {
  for (const MicroBatch& micro : batch.shards.own[static_cast<std::size_t>(shard.number)]) {
    work(micro);
    if (shard.worker == 0) poll_progress_();  // on this rank's own thread
  }
}

void PolicyUpdater::recompute_old(MiniBatch& batch, UpdateSeconds& seconds) {
  const auto temperature = static_cast<float>(options_.temperature);
  batch.old_log_probs.resize(batch.indices.size());
  std::vector<UpdateSeconds> of_workers(gradient_.workers().size());
  gradient_.for_each_shard(batch.shards.count, [&](const GradientShardWork& work) {
    UpdateSeconds& own_seconds = of_workers[static_cast<std::size_t>(work.worker)];
    each_micro_batch(batch, work, [&](const MicroBatch& micro) {
      const RowLogProbs rows = timed(own_seconds.forward, [&] {
        return policies_.of(work.worker).forward(micro.packed, temperature, false);
      });
      for (std::size_t s = 0; s < micro.sequences.size(); ++s) {
        const auto own = rows_of(rows.log_probs, micro, s);
        batch.old_log_probs[micro.sequences[s]].assign(own.begin(), own.end());
      }
    });
  });
  seconds.add_mean(of_workers);
}

MiniBatchUpdate PolicyUpdater::update_once(const Pass& pass, const MiniBatch& batch,
                                           StepUpdate& update) {
  MiniBatchUpdate result;
  result.epoch = pass.epoch;
  if (pass.epoch == 0) {
    for (const ResponseIndex index : batch.indices) {
      const double advantage = pass.advantages[index.group].values[index.sample];
      response_of(update, index).advantage = static_cast<float>(advantage);
      response_of(update, index).mini_batch = pass.mini_batch;
    }
  }
  result.stats = run_shards(pass, batch, update);
  result.optimizer = update_weights(pass.step, update.seconds);
  return result;
}

UpdateOutcome PolicyUpdater::update_weights(std::int64_t step, UpdateSeconds& seconds) {
  const Tensor gradient = timed(seconds.gradient_sync, [&] { return gradient_.sum(); });
  const UpdateOutcome outcome = timed(seconds.optimizer, [&] {
    return update_optimizer_shard(parts_.learners, parts_.optimizer, step, gradient,
                                  parts_.weights);
  });
  share_weights(seconds);
  return outcome;
}

void PolicyUpdater::share_weights(UpdateSeconds& seconds) {
  timed(seconds.gradient_sync,
        [&] { gather_optimizer_shards(parts_.learners, parts_.weights, weights()); });
  timed(seconds.optimizer, [&] { parts_.policy.set_weights(weights()); });
  if (is_shared_with_actors_) timed(seconds.gradient_sync, [&] { wait_for_all_learners(); });
}

void PolicyUpdater::wait_for_all_learners() {
  double nothing = 0;
  parts_.learners.all_reduce_sum(std::span(&nothing, 1));
}

/// Runs forward and backward over this learner's gradient shards. Returns the statistics over all
/// learners.
PolicyLossStats PolicyUpdater::run_shards(const Pass& pass, const MiniBatch& batch,
                                          StepUpdate& update) {
  std::vector<PolicyLossStats> stats(static_cast<std::size_t>(batch.shards.count));
  std::vector<UpdateSeconds> seconds(gradient_.workers().size());
  gradient_.run(batch.shards.count, [&](const GradientShardWork& work) {
    const GradientShard shard{work.worker, work.gradient,
                              stats[static_cast<std::size_t>(work.shard)],
                              seconds[static_cast<std::size_t>(work.worker)]};
    each_micro_batch(batch, work, [&](const MicroBatch& micro) {
      accumulate(pass, batch, micro, shard, update);
    });
  });
  update.seconds.add_mean(seconds);
  return timed(update.seconds.gradient_sync, [&] { return sum_stats(parts_.learners, stats); });
}

SequenceInput PolicyUpdater::sequence_input(const Pass& pass, const MiniBatch& batch,
                                            std::size_t sequence) const {
  const ResponseIndex index = batch.indices[sequence];
  const Response& sampled = pass.groups[index.group].rollout.responses[index.sample];
  SequenceInput input;
  input.behavior_log_probs = sampled.behavior_log_probs;
  input.old_log_probs = options_.loss.recompute_old_log_probs ? batch.old_log_probs[sequence]
                                                              : sampled.behavior_log_probs;
  input.advantage = pass.advantages[index.group].values[index.sample];
  input.weight = weight_of(options_.loss, batch.whole, sampled);
  return input;
}

void PolicyUpdater::accumulate(const Pass& pass, const MiniBatch& batch, const MicroBatch& micro,
                               const GradientShard& shard, StepUpdate& update) {
  const PolicyLossOptions& loss = options_.loss;
  const auto temperature = static_cast<float>(options_.temperature);
  Transformer& policy = policies_.of(shard.worker);
  RowLogProbs rows, reference;
  timed(shard.seconds.forward, [&] {
    rows = policy.forward(micro.packed, temperature, true);
    if (references_) {
      reference = references_->of(shard.worker).forward(micro.packed, temperature, false);
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
                                                rows_of(d_entropies, micro, s), shard.stats);
    if (pass.epoch == 0) {
      note_first_pass(outcome, loss.recompute_old_log_probs ? input.old_log_probs : input.log_probs,
                      response_of(update, batch.indices[micro.sequences[s]]));
    }
  }
  timed(shard.seconds.backward,
        [&] { policy.backward(micro.packed, d_log_probs, d_entropies, shard.gradient); });
}

}  // namespace lie
