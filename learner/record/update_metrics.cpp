#include "learner/record/update_metrics.h"

#include <algorithm>
#include <string>

namespace lie {
namespace {

void add_loss(MetricsWriter& out, const PolicyLossStats& all, double updates) {
  out.add("clip_fraction", all.no_gradient() / all.tokens);
  out.add("clip_fraction_low", all.no_gradient_low / all.tokens);
  out.add("clip_fraction_high", all.no_gradient_high / all.tokens);
  out.add("clip_fraction_dual", all.no_gradient_dual / all.tokens);
  out.add("clip_fraction_sequences", all.no_gradient_sequences / all.sequences);
  out.add("importance_ratio_mean", all.ratio_sum / all.tokens);
  out.add("importance_ratio_min", all.ratio_min);
  out.add("importance_ratio_max", all.ratio_max);
  out.add("approx_kl", all.kl_k1_sum / all.tokens);
  out.add("approx_kl_k3", all.kl_k3_sum / all.tokens);
  out.add("reference_kl", all.reference_kl_sum / all.tokens);
  out.add("tis_weight_mean", all.tis_weight_sum / all.tokens);
  out.add("tis_truncated_share", all.tis_truncated / all.tokens);
  out.add("tis_below_share", all.tis_below / all.tokens);
  out.add("off_policy_mask_share", all.off_policy_masked / all.tokens);
  out.add("loss", all.loss / updates);
  out.add("policy_loss", all.policy_loss / updates);
  out.add("kl_loss", all.kl_loss / updates);
  out.add("entropy_loss", all.entropy_loss / updates);
}

void add_entropy(MetricsWriter& out, const StepUpdate& update) {
  PolicyLossStats first;  // of the first epoch
  for (const MiniBatchUpdate& batch : update.mini_batches) {
    if (batch.epoch == 0) first.merge(batch.stats);
  }
  out.add("entropy_mean", first.entropy_sum / first.tokens);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    out.add("entropy_quarter_" + std::to_string(quarter + 1) + "_mean",
            first.quarter_entropy_sum[quarter] / first.quarter_tokens[quarter]);
  }
}

void add_token_rules(MetricsWriter& out, const StepUpdate& update) {
  for (const RuleCount& rule : update.rule_counts) {
    out.add(rule.name + "_share", rule.selected / rule.tokens);
  }
  if (update.entropy_coefficient) out.add("entropy_coefficient", *update.entropy_coefficient);
}

void add_optimizer(MetricsWriter& out, const StepUpdate& update) {
  double norm_sum = 0, norm_max = 0, applied = 0;
  for (const MiniBatchUpdate& batch : update.mini_batches) {
    if (batch.optimizer.skipped) continue;
    applied += 1;
    norm_sum += batch.optimizer.grad_norm;
    norm_max = std::max(norm_max, batch.optimizer.grad_norm);
  }
  const double count = static_cast<double>(update.mini_batches.size());
  if (applied > 0) out.add("grad_norm", norm_sum / applied);
  if (applied > 0) out.add("grad_norm_max", norm_max);
  out.add("learning_rate", update.mini_batches.back().optimizer.learning_rate);
  out.add("updates", applied);
  out.add("skipped_updates", count - applied);
}

}  // namespace

void add_update_metrics(MetricsWriter& out, const StepUpdate& update) {
  if (update.mini_batches.empty()) return;
  PolicyLossStats all;
  for (const MiniBatchUpdate& batch : update.mini_batches) all.merge(batch.stats);
  const PolicyLossStats& first = update.mini_batches.front().stats;
  add_entropy(out, update);
  add_loss(out, all, static_cast<double>(update.mini_batches.size()));
  out.add("first_minibatch_ratio_max_deviation", first.max_deviation);
  out.add("first_minibatch_clip_fraction", first.no_gradient() / first.tokens);
  add_token_rules(out, update);
  out.add("masked_responses", static_cast<double>(update.masked));
  add_optimizer(out, update);
  out.add("forward_seconds", update.seconds.forward);
  out.add("backward_seconds", update.seconds.backward);
  out.add("gradient_sync_seconds", update.seconds.gradient_sync);
  out.add("optimizer_seconds", update.seconds.optimizer);
}

}  // namespace lie
