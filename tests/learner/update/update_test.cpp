#include "learner/update/update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <limits>

#include "common/base/error.h"
#include "learner/advantage/group_relative.h"
#include "tests/host_memory.h"
#include "tests/learner/sampled_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::LearnerPolicy, test::LearnerTrainer, test::on_learners, test::relative_difference;

/// Returns options without warm-up, clipping and first-moment decay, so that the first moment
/// equals the gradient after one update.
OptimizerOptions plain_optimizer() {
  return {.learning_rate = 1e-3, .beta1 = 0, .max_grad_norm = 0, .warmup = 0};
}

/// The options of an updater and of its trainer.
struct Options : UpdateOptions {
  TrainerOptions trainer;
};

struct UpdateResult {
  std::vector<float> weights, gradient;
  StepUpdate update;
};

/// Trains the initial policy, to which `shift` is added first unless it is empty.
UpdateResult train(const Options& options, std::span<const ScoredGroup> groups,
                   Collective& learners, std::span<const float> shift = {}, int threads = 1) {
  LearnerTrainer learner(options.trainer, plain_optimizer(), learners, make_cpu_operators(threads));
  LearnerPolicy reference(make_cpu_operators(threads));
  ShardedTrainer& trainer = learner.trainer;
  for (std::size_t i = 0; i < shift.size(); ++i) test::host(trainer.weights())[i] += shift[i];
  if (!shift.empty()) trainer.gather_weights();
  PolicyUpdater updater(options, trainer, &reference.transformer, &reference.transformer);
  std::vector<GroupAdvantages> advantages;
  for (const ScoredGroup& group : groups) advantages.push_back(group_advantages(group.scores, {}));
  UpdateResult result;
  result.update = updater.run(1, groups, advantages);
  result.weights = learner.weights();
  const AdamW& optimizer = trainer.optimizer();
  result.gradient =
      test::whole_of(learners, optimizer.shard(), optimizer.first_moment(), result.weights.size());
  return result;
}

UpdateResult train(const Options& options, std::span<const ScoredGroup> groups) {
  const auto alone = solo_collective();
  return train(options, groups, *alone);
}

void set_clip_range(Options& options, double range) {
  ClipOptions& clip = options.loss.of<ClipOptions>();
  clip.clip_low = clip.clip_high = range;
}

Options gspo(std::int64_t mini_batch_prompts) {
  Options options;
  options.batch.mini_batch_prompts = mini_batch_prompts;
  set_clip_range(options, 0.5);
  return options;
}

/// Returns options with every term of the loss.
Options all_terms(std::int64_t mini_batch_prompts) {
  Options options;
  options.batch.mini_batch_prompts = mini_batch_prompts;
  options.batch.epochs = 2;
  options.loss.algorithm = "grpo";
  options.loss.aggregation = Aggregation::kTokenMean;
  options.loss.of<ClipOptions>().dual_clip = 10;
  options.loss.kl_coefficient = 0.1;
  options.loss.entropy_coefficient = 0.01;
  return options;
}

/// Returns options with every token rule.
Options all_rules(std::int64_t mini_batch_prompts) {
  Options options = all_terms(mini_batch_prompts);
  options.seed = 3;
  options.loss.recompute_old_log_probs = true;
  options.loss.entropy_coefficient = 0;
  options.loss.entropy_target = {.nats = 100, .change = 0.01};
  options.loss.off_policy_mask.delta = 0.01;
  options.loss.rule<DistillationOptions>() = {.coefficient = 0.1, .teacher = "initial"};
  options.loss.rule<EntropyAdvantageOptions>().alpha = 0.4;
  options.loss.rule<GeometricMaskOptions>() = {.low = 0.9, .high = 1.1};
  options.loss.rule<HighEntropyOptions>().share = 0.5;
  options.loss.rule<KlCovOptions>().share = 0.1;
  options.loss.rule<ClipCovOptions>() = {.share = 0.2, .low = -9, .high = 9};
  return options;
}

TEST(Update, IsBitIdenticalForAnyMicroBatchSize) {
  const auto groups = test::sampled_groups(6, 4);
  for (Options options : {gspo(2), all_terms(3), all_rules(4)}) {
    options.trainer.max_micro_batch_tokens = 100000;
    const UpdateResult whole = train(options, groups);
    for (const std::int64_t tokens : {1, 30, 77}) {
      options.trainer.max_micro_batch_tokens = tokens;
      const UpdateResult cut = train(options, groups);
      EXPECT_EQ(cut.weights, whole.weights) << tokens;
      EXPECT_EQ(cut.gradient, whole.gradient) << tokens;
      for (std::size_t b = 0; b < whole.update.mini_batches.size(); ++b) {
        EXPECT_EQ(cut.update.mini_batches[b].stats.loss, whole.update.mini_batches[b].stats.loss);
        EXPECT_EQ(cut.update.mini_batches[b].optimizer.grad_norm,
                  whole.update.mini_batches[b].optimizer.grad_norm);
      }
    }
  }
}

void expect_bit_identical(const UpdateResult& a, const UpdateResult& b) {
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.gradient, b.gradient);
  for (std::size_t i = 0; i < a.update.mini_batches.size(); ++i) {
    using Numbers = PolicyLossStats::Numbers;
    EXPECT_EQ(std::bit_cast<Numbers>(a.update.mini_batches[i].stats),
              std::bit_cast<Numbers>(b.update.mini_batches[i].stats));
    EXPECT_EQ(a.update.mini_batches[i].optimizer.grad_norm,
              b.update.mini_batches[i].optimizer.grad_norm);
  }
  for (std::size_t g = 0; g < a.update.responses.size(); ++g) {
    for (std::size_t r = 0; r < a.update.responses[g].size(); ++r) {
      const LearnerResult &here = a.update.responses[g][r], &there = b.update.responses[g][r];
      EXPECT_EQ(here.log_probs, there.log_probs);
      EXPECT_EQ(here.sequence_log_ratio, there.sequence_log_ratio);
      EXPECT_EQ(here.clipped, there.clipped);
    }
  }
}

TEST(Update, TokenRulesCountTheTokensOfAllMiniBatches) {
  const auto groups = test::sampled_groups(6, 4);
  double tokens = 0;
  for (const ScoredGroup& group : groups) {
    for (const Response& response : group.rollout.responses) {
      tokens += static_cast<double>(response.ids.size());
    }
  }
  const UpdateResult with = train(all_rules(4), groups);
  ASSERT_EQ(with.update.rule_counts.size(), 6U);
  for (const RuleCount& rule : with.update.rule_counts) EXPECT_EQ(rule.tokens, tokens) << rule.name;
  EXPECT_EQ(with.update.rule_counts[3].name, "high_entropy");
  EXPECT_NEAR(with.update.rule_counts[3].selected, 0.5 * tokens, 1);
  EXPECT_NE(with.weights, train(all_terms(4), groups).weights);
}

TEST(Update, TheEntropyTargetChangesTheCoefficientOfTheNextStep) {
  const auto groups = test::sampled_groups(4, 3);
  const auto alone = solo_collective();
  Options options = gspo(2);
  LearnerTrainer learner(options.trainer, plain_optimizer(), *alone);
  options.loss.entropy_target = {.nats = 100, .change = 0.25};
  PolicyUpdater updater(options, learner.trainer);
  const std::vector<GroupAdvantages> advantages(4, {.values = {1, 0, -1}, .mass = {}});
  const StepUpdate first = updater.run(1, groups, advantages);
  EXPECT_EQ(first.entropy_coefficient, 0);
  EXPECT_EQ(first.next_entropy_coefficient, 0.25);
  EXPECT_EQ(first.mini_batches[0].stats.entropy_loss, 0);
  updater.restore_entropy_coefficient(0.5);
  const StepUpdate second = updater.run(2, groups, advantages);
  EXPECT_EQ(second.entropy_coefficient, 0.5);
  EXPECT_EQ(second.next_entropy_coefficient, 0.75);
  EXPECT_LT(second.mini_batches[0].stats.entropy_loss, 0);
}

TEST(Update, DroppedGroupsDoNotChangeTheWeightOfOthers) {
  const auto groups = test::sampled_groups(3, 2);
  const auto alone = solo_collective();
  const auto train_on = [&](std::span<const ScoredGroup> some, bool drops) {
    Options options = all_terms(3);
    options.loss.drop_zero_advantages = drops;
    LearnerTrainer learner(options.trainer, plain_optimizer(), *alone);
    LearnerPolicy reference;
    PolicyUpdater updater(options, learner.trainer, &reference.transformer);
    std::vector<GroupAdvantages> advantages(3, {.values = {0, 0}, .mass = {}});
    advantages[0].values = {1, -1};
    const StepUpdate update = updater.run(1, some, std::span(advantages).first(some.size()));
    return std::pair(update.mini_batches[0].stats.loss, update.masked);
  };
  const auto dropped = train_on(groups, true);
  EXPECT_EQ(dropped.second, 4);
  EXPECT_NEAR(dropped.first, train_on(std::span(groups).first(1), false).first, 1e-6);
  EXPECT_GT(std::abs(dropped.first - train_on(groups, false).first), 1e-5);
}

TEST(Update, PollsProgressBetweenMicroBatches) {
  const auto groups = test::sampled_groups(4, 2);
  for (const bool recomputes : {false, true}) {
    const auto alone = solo_collective();
    Options options = gspo(2);
    options.trainer.max_micro_batch_tokens = 1;  // one response each
    options.loss.recompute_old_log_probs = recomputes;
    LearnerTrainer learner(options.trainer, plain_optimizer(), *alone);
    PolicyUpdater updater(options, learner.trainer);
    int polls = 0;
    updater.poll_progress_with([&] { ++polls; });
    const std::vector<GroupAdvantages> advantages(4,
                                                  GroupAdvantages{.values = {1, -1}, .mass = {}});
    updater.run(1, groups, advantages);
    EXPECT_EQ(polls, recomputes ? 16 : 8);
  }
}

TEST(Update, IsBitIdenticalForAnyNumberOfLearners) {
  const auto groups = test::sampled_groups(6, 4);
  for (Options options :
       {gspo(4), all_terms(4), all_rules(4)}) {  // the second mini-batch has 8 sequences
    for (const std::int64_t shard_count : {8, 11}) {
      options.trainer.gradient_shards = shard_count;
      const UpdateResult alone = train(options, groups);
      for (const int count : {2, 3, 4, 6, 8}) {
        on_learners(count, [&](Collective& learners) {
          expect_bit_identical(train(options, groups, learners), alone);
        });
      }
    }
  }
}

TEST(Update, InStages2And3IsBitIdenticalForAnyNumberOfLearnersAndThreads) {
  const auto groups = test::sampled_groups(6, 4);
  const auto solo = solo_collective();
  for (Options options : {gspo(4), all_terms(4), all_rules(4)}) {
    options.trainer.gradient_shards = 8;
    options.trainer.max_micro_batch_tokens = 30;  // shards of one and of several micro-batches
    const UpdateResult tree = train(options, groups);
    options.trainer.zero_stage = 2;
    const UpdateResult alone = train(options, groups);
    EXPECT_LE(relative_difference(alone.gradient, tree.gradient), 1e-5) << "only rounding differs";
    for (const std::int64_t stage : {2, 3}) {
      options.trainer.zero_stage = stage;
      for (const int count : {2, 3, 4, 8}) {
        on_learners(count, [&](Collective& learners) {
          expect_bit_identical(train(options, groups, learners), alone);
        });
      }
    }
    for (const int threads : {2, 5}) {
      expect_bit_identical(train(options, groups, *solo, {}, threads), alone);
    }
  }
}

TEST(Update, IsBitIdenticalForAnyNumberOfThreads) {
  const auto groups = test::sampled_groups(6, 4);
  const auto alone = solo_collective();
  for (Options options : {gspo(4), all_terms(4), all_rules(4)}) {
    for (const bool recomputes : {false, true}) {
      options.loss.recompute_old_log_probs = recomputes;
      if (!recomputes) options.loss.rule<GeometricMaskOptions>() = {};  // it compares the two
      const UpdateResult one = train(options, groups);
      for (const int threads : {2, 3, 5, 12}) {
        expect_bit_identical(train(options, groups, *alone, {}, threads), one);
        on_learners(2, [&](Collective& learners) {
          expect_bit_identical(train(options, groups, learners, {}, threads), one);
        });
      }
    }
  }
}

TEST(Update, TheNumberOfShardsChangesOnlyRounding) {
  const auto groups = test::sampled_groups(6, 4);
  for (Options options : {gspo(6), all_terms(6)}) {
    options.batch.epochs = 1;
    options.trainer.gradient_shards = 1;
    const UpdateResult one = train(options, groups);
    for (const std::int64_t shard_count : {2, 8, 64}) {
      options.trainer.gradient_shards = shard_count;
      const UpdateResult other = train(options, groups);
      EXPECT_LE(relative_difference(other.gradient, one.gradient), 1e-6) << shard_count;
      EXPECT_NEAR(other.update.mini_batches[0].stats.loss, one.update.mini_batches[0].stats.loss,
                  1e-12);
    }
  }
}

TEST(Update, AllLearnersHaveTheSameWeightsAndResults) {
  const auto groups = test::sampled_groups(5, 3);
  std::vector<UpdateResult> results(3);
  on_learners(3, [&](Collective& learners) {
    results[static_cast<std::size_t>(learners.rank())] = train(gspo(2), groups, learners);
  });
  for (const std::size_t r : {1U, 2U}) {
    EXPECT_EQ(results[r].weights, results[0].weights);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t i = 0; i < 3; ++i) {
        const auto &a = results[r].update.responses[g][i], &b = results[0].update.responses[g][i];
        EXPECT_EQ(a.log_probs, b.log_probs);
        EXPECT_EQ(a.sequence_log_ratio, b.sequence_log_ratio);
        EXPECT_EQ(a.clipped, b.clipped);
        EXPECT_EQ(a.mini_batch, static_cast<std::int32_t>(g / 2));
      }
    }
  }
}

TEST(Update, FirstMiniBatchIsExactlyOnPolicy) {
  const auto groups = test::sampled_groups(6, 4);
  const UpdateResult result = train({{gspo(2).batch, {}}, {}}, groups);
  ASSERT_EQ(result.update.mini_batches.size(), 3U);
  const PolicyLossStats& first = result.update.mini_batches[0].stats;
  EXPECT_EQ(first.max_deviation, 0.0);
  EXPECT_EQ(first.ratio_min, 1.0);
  EXPECT_EQ(first.ratio_max, 1.0);
  EXPECT_EQ(first.no_gradient_low + first.no_gradient_high, 0.0);
  EXPECT_GT(result.update.mini_batches[1].stats.max_deviation, 0.0);
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(result.update.responses[g][i].log_probs,
                groups[g].rollout.responses[i].behavior_log_probs);
      EXPECT_EQ(result.update.responses[g][i].sequence_log_ratio, 0.0F);
    }
  }
}

TEST(Update, LowersThePolicyLoss) {
  const auto groups = test::sampled_groups(1, 6);
  Options options = gspo(1);
  options.batch.epochs = 2;  // the second epoch shows the effect of the first update
  set_clip_range(options, 1e9);
  const UpdateResult result = train(options, groups);
  const auto& before = result.update.mini_batches[0].stats;
  const auto& after = result.update.mini_batches[1].stats;
  EXPECT_LT(after.policy_loss, before.policy_loss);
}

TEST(Update, GradientAgreesWithFiniteDifferences) {
  const auto groups = test::sampled_groups(4, 4);
  const auto alone = solo_collective();
  for (Options options : {gspo(4), all_terms(4)}) {
    options.batch.epochs = 1;
    set_clip_range(options, 1e9);
    const std::vector<float> gradient = train(options, groups).gradient;
    std::vector<float> ahead(gradient.size()), behind(gradient.size());
    double slope = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const float step = 2e-4F * random_normal({.seed = 9, .index = static_cast<std::uint32_t>(i)});
      ahead[i] = gradient[i] == 0 ? 0.0F : step;  // padding between parameters has no gradient
      behind[i] = -ahead[i];
      slope += 2.0 * static_cast<double>(ahead[i]) * static_cast<double>(gradient[i]);
    }
    const double rise = train(options, groups, *alone, ahead).update.mini_batches[0].stats.loss -
                        train(options, groups, *alone, behind).update.mini_batches[0].stats.loss;
    EXPECT_NEAR(rise, slope, 2e-3 * std::abs(slope));
    std::printf("loss rises by %.6e, gradient says %.6e\n", rise, slope);
  }
}

TEST(Update, RecomputedOldLogProbsReplaceThoseOfTheSampler) {
  auto groups = test::sampled_groups(4, 3);
  for (auto& group : groups) {
    for (auto& response : group.rollout.responses) {
      for (float& log_prob : response.behavior_log_probs) log_prob -= 0.5F;
    }
  }
  Options options = gspo(4);
  EXPECT_GT(train(options, groups).update.mini_batches[0].stats.max_deviation, 0.4);
  options.loss.recompute_old_log_probs = true;
  options.loss.tis_cap = 1.25;
  const UpdateResult result = train(options, groups);
  EXPECT_EQ(result.update.mini_batches[0].stats.max_deviation, 0.0);
  EXPECT_EQ(result.update.responses[0][0].log_probs.size(),
            groups[0].rollout.responses[0].ids.size());
}

TEST(Update, MaskedResponsesDoNotContributeToTheGradient) {
  auto groups = test::sampled_groups(4, 3);
  for (Options options : {gspo(4), all_terms(4)}) {
    options.batch.epochs = 1;
    options.loss.mask_truncated = true;
    for (auto& group : groups) {
      for (auto& response : group.rollout.responses) response.finish = FinishReason::kEndOfSequence;
    }
    const UpdateResult none = train(options, groups);
    EXPECT_EQ(none.update.masked, 0);
    groups[0].rollout.responses[1].finish = FinishReason::kLength;
    const UpdateResult one = train(options, groups);
    EXPECT_EQ(one.update.masked, 1);
    EXPECT_GT(relative_difference(one.gradient, none.gradient), 1e-3);
    groups[0].rollout.responses[1].ids.back() ^= 1;  // the gradient does not depend on it
    EXPECT_EQ(train(options, groups).gradient, one.gradient);
    EXPECT_EQ(one.update.responses[0][1].log_probs.size(),
              groups[0].rollout.responses[1].ids.size());  // its log-probs are logged all the same
    options.loss.mask_truncated = false;
    EXPECT_EQ(train(options, groups).update.masked, 0);
  }
}

TEST(Update, AMiniBatchOfMaskedResponsesHasNoGradient) {
  const auto groups = test::sampled_groups(2, 3);  // all truncated
  Options options = all_terms(2);
  options.loss.mask_truncated = true;
  const UpdateResult result = train(options, groups);
  EXPECT_EQ(result.update.masked, 6);
  EXPECT_EQ(result.update.mini_batches[0].stats.loss, 0.0);
  for (const float g : result.gradient) EXPECT_EQ(g, 0.0F);
}

TEST(Update, AKlTermRequiresAReferencePolicy) {
  const auto alone = solo_collective();
  LearnerTrainer learner({}, {}, *alone);
  EXPECT_THROW(PolicyUpdater(all_terms(2), learner.trainer), Error);
}

TEST(Update, DistillationRequiresATeacher) {
  const auto alone = solo_collective();
  LearnerTrainer learner({}, {}, *alone);
  Options options = gspo(2);
  options.loss.rule<DistillationOptions>() = {.coefficient = 1, .teacher = "initial"};
  EXPECT_THROW(PolicyUpdater(options, learner.trainer), Error);
}

TEST(Update, DistillationAloneLeavesThePolicyThatIsItsOwnTeacher) {
  const auto groups = test::sampled_groups(2, 3);
  Options options = gspo(2);
  options.loss.rule<DistillationOptions>() = {
      .coefficient = 1, .teacher = "initial", .with_rewards = false};
  const UpdateResult result = train(options, groups);
  for (const float g : result.gradient) EXPECT_EQ(g, 0.0F);
}

TEST(Update, ATeacherWithoutProbabilitiesIsNamed) {
  const auto groups = test::sampled_groups(2, 2);
  const auto alone = solo_collective();
  LearnerTrainer learner({}, {}, *alone);
  LearnerPolicy teacher(make_cpu_operators(1));
  std::ranges::fill(test::host(teacher.weights), std::numeric_limits<float>::quiet_NaN());
  Options options = gspo(2);
  options.loss.rule<DistillationOptions>() = {.coefficient = 1, .teacher = "t"};
  PolicyUpdater updater(options, learner.trainer, nullptr, &teacher.transformer);
  std::vector<GroupAdvantages> advantages;
  for (const ScoredGroup& group : groups) advantages.push_back(group_advantages(group.scores, {}));
  EXPECT_NE(error_of([&] {
              updater.run(1, groups, advantages);
            }).find("the log-probs of policy_loss.distillation.teacher are not finite"),
            std::string::npos);
}

TEST(Update, RejectsGroupsWithoutAdvantages) {
  const auto groups = test::sampled_groups(2, 2);
  const auto alone = solo_collective();
  LearnerTrainer learner({}, {}, *alone);
  PolicyUpdater updater(gspo(2), learner.trainer);
  EXPECT_THROW(updater.run(1, groups, std::vector<GroupAdvantages>(1)), Error);
}

}  // namespace
}  // namespace lie
