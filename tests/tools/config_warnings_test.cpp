#include "tools/run/config/config_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/operators/operators.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::AllOf, testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::IsEmpty,
    testing::Not;

struct ConfigWarnings : testing::Test {
  ConfigWarnings() {
    config.model.path = std::string(source_directory()) + "/assets/count_pairs/model";
    config.tickets.prompts_per_step = 2;
    prompts.resize(2);
    prompts[0].text = "1 2 3";
    prompts[1].text = "1 2 3 4 5 6 7 8 9 10 11 12";
  }
  std::vector<std::string> warnings() { return config_warnings(config, prompts, evaluation); }

  TrainConfig config;
  std::vector<Prompt> prompts, evaluation;
};

TEST_F(ConfigWarnings, AGoodConfigHasNone) { EXPECT_THAT(warnings(), IsEmpty()); }

TEST_F(ConfigWarnings, AGroupOfOneHasNoBaseline) {
  config.tickets.samples_per_prompt = 1;
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("rollout.samples_per_prompt is 1"),
                                            HasSubstr("has no baseline, or is 0"))));
  config.advantage.estimator = "batch";
  config.advantage.of<BatchNormalizedOptions>().baseline = BaselineOf::kStep;
  EXPECT_THAT(warnings(), IsEmpty()) << "the baseline is that of the step";
}

TEST_F(ConfigWarnings, TruncatedSamplingIsOffPolicy) {
  config.rollout.sampling.top_p = 0.9;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("the update is off policy")));
  config.rollout.sampling.top_p = 1;
  config.rollout.sampling.top_k = 20;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("the update is off policy")));
  config.rollout.sampling.top_k = 1;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("rollout.top_k is 1: all responses"),
                                      HasSubstr("the update is off policy")));
}

TEST_F(ConfigWarnings, SeveralGreedyResponsesOfAnEvaluationAreEqual) {
  config.evaluation.every = 1;
  config.evaluation.samples_per_prompt = 4;
  EXPECT_THAT(warnings(), IsEmpty());
  config.rollout.evaluation.top_k = 1;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("evaluation.top_k is 1: all 4 responses")));
  config.rollout.evaluation.temperature = 0;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("evaluation.temperature is 0: all 4 responses")));
  config.evaluation.samples_per_prompt = 1;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, DataThatAreSmallOrEvaluatedOn) {
  config.tickets.prompts_per_step = 3;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("has 2 prompts, fewer than")));
  config.tickets.prompts_per_step = 2;
  evaluation.resize(3);
  evaluation[0].text = "another";
  evaluation[2].text = " " + prompts[1].text + "\u200b";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("1 of 3 evaluation prompts are training prompts")));
}

TEST_F(ConfigWarnings, ClipRangesOfTheOtherLevel) {
  ClipOptions& clip = config.policy_loss.of<ClipOptions>();
  clip.clip_high = 0.28;
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("the clip range 0.28 is one for token"),
                                            HasSubstr("nothing will be clipped"))));
  config.policy_loss.algorithm = "sapo";
  EXPECT_THAT(warnings(),
              ElementsAre(HasSubstr("clip_high has no effect, because the loss is sapo")))
      << "it has no such range";
  config.policy_loss.algorithm = "grpo";
  EXPECT_THAT(warnings(), IsEmpty());
  clip.clip_high = 4e-4;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("nearly every token will be clipped above 1")));
  clip = {.clip_low = 3e-4};
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("nearly every token will be clipped below 1")));
  config.policy_loss.algorithm = "gspo";
  EXPECT_THAT(warnings(), IsEmpty());
  clip.clip_low = 0.2;
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("the clip range 0.2 is one for token"),
                                            HasSubstr("nothing will be clipped below"))));
}

TEST_F(ConfigWarnings, LengthTargetsThatNoResponseReaches) {
  LengthRewardOptions& length = config.reward.of<LengthRewardOptions>();
  config.rollout.sampling.max_response_tokens = 600;
  for (Prompt& prompt : prompts) prompt.reference_length = 100;
  EXPECT_THAT(warnings(), IsEmpty()) << "a target at the limit can be reached";
  prompts[1].reference_length = 101;
  EXPECT_THAT(warnings(), IsEmpty()) << "half of the prompts are not most";
  prompts[0].reference_length = 103;
  EXPECT_THAT(warnings(),
              ElementsAre(AllOf(HasSubstr("102 tokens on average, plus"),
                                HasSubstr("above rollout.max_response_tokens 600 for 2 of 2"))));
  length.cap_target_at_limit = true;
  EXPECT_THAT(warnings(), IsEmpty());
  length = {.target = LengthTarget::kAbsolute, .target_tokens = 601};
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("reward.length.target_tokens 601")));
  length.enabled = false;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, AWarmUpThatTheRunDoesNotOutlast) {
  config.run.steps = 3;
  config.tickets.prompts_per_step = 2;
  config.update.mini_batch_prompts = 1;
  config.optimizer.warmup = 5;
  EXPECT_THAT(warnings(), IsEmpty());
  config.optimizer.schedule_per_step = true;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("but the run has 3 steps")));
  config.optimizer.schedule_per_step = false;
  config.optimizer.warmup = 6;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("but the run has 6 updates")));
}

TEST_F(ConfigWarnings, ADecayThatEndsBeforeTheRun) {
  config.run.steps = 6;
  config.tickets.prompts_per_step = 2;
  config.update.mini_batch_prompts = 1;
  config.optimizer = {.schedule = Schedule::kCosine, .warmup = 0, .decay_until = 6};
  config.optimizer.min_ratio = 0.1;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("decay_until is 6, but the run has 12 updates: the "
                                                "others have 0.1 of the learning rate")));
  EXPECT_EQ(error_of([&] { check_decay(config); }), "no error");
  config.optimizer.min_ratio = 0;
  EXPECT_THAT(
      error_of([&] { check_decay(config); }),
      HasSubstr("after it the learning rate is 0 and nothing is learned; set decay_until to "
                "12, or schedule_per_step to true"));
  config.optimizer.schedule_per_step = true;
  EXPECT_THAT(warnings(), IsEmpty());
  EXPECT_EQ(error_of([&] { check_decay(config); }), "no error");
}

TEST_F(ConfigWarnings, MiniBatchesOfUnequalSizes) {
  config.tickets.prompts_per_step = 4;
  config.update.mini_batch_prompts = 3;
  prompts.resize(4);
  prompts[2].text = "4 5";
  prompts[3].text = "6 7";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("has 1 prompt, each of which counts 3.0 times")));
  config.update.mini_batch_prompts = 2;
  EXPECT_THAT(warnings(), IsEmpty());
  config.update.mini_batch_prompts = 9;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, RepeatedPromptsAreCounted) {
  prompts.resize(5, prompts[0]);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("has 5 prompts, of which only 2 differ")));
}

TEST_F(ConfigWarnings, LearningRatesAtWhichNoRunLearns) {
  config.optimizer.learning_rate = 0;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("no update changes a weight")));
  config.optimizer.learning_rate = 1;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("replaces the weights")));
  config.optimizer.learning_rate = 1e-3;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, PlainTemplateForAChatModel) {
  TemporaryDirectory model;
  std::filesystem::copy(config.model.path, model.path(), std::filesystem::copy_options::recursive);
  config.model.path = model.path();
  EXPECT_THAT(warnings(), IsEmpty());
  model.write("chat_template.jinja", "{{ messages }}");
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("has a chat template")));
  EXPECT_THAT(template_warning("plain", model.path()), HasSubstr("has a chat template"))
      << "of other commands";
  config.data.prompt_template = "qwen3";
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, KeysOfGenerationConfigThatAreNotApplied) {
  const TemporaryDirectory model;
  EXPECT_EQ(generation_warning(model.path()), "");
  model.write("generation_config.json",
              R"({"temperature": 0.6, "repetition_penalty": 1.0, "suppress_tokens": [],
                  "bad_words_ids": null, "min_p": 0})");
  EXPECT_EQ(generation_warning(model.path()), "");
  model.write("generation_config.json",
              R"({"min_new_tokens": 20, "num_beams": 1, "min_length": 3})");
  EXPECT_THAT(generation_warning(model.path()),
              HasSubstr("sets min_length, min_new_tokens, which"));
  model.write("generation_config.json", R"({"repetition_penalty": 1.05, "stop_strings": ["END"]})");
  EXPECT_THAT(generation_warning(model.path()),
              HasSubstr("sets repetition_penalty, stop_strings, which sampling here does not"));
}

TEST_F(ConfigWarnings, TruncatedPromptsAreCounted) {
  config.rollout.max_prompt_tokens = 5;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("1 of 2 training prompts")));
  evaluation.resize(3);
  for (Prompt& prompt : evaluation) prompt.text = "9 8 7 6 5 4 3 2 1";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("1 of 2 training prompts"),
                                      HasSubstr("3 of 3 evaluation prompts are longer")));
}

TEST_F(ConfigWarnings, RoundingOnAGpuWithANarrowClipRange) {
  config.model.device = "cuda:1";
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("model.device is cuda:1"),
                                            HasSubstr("recompute_old_log_probs to true"))));
  config.policy_loss.recompute_old_log_probs = true;
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.recompute_old_log_probs = false;
  config.model.device = "cuda-exact";
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, StaleResponsesWithANarrowClipRange) {
  config.tickets.max_staleness = 2;
  EXPECT_THAT(warnings(), ElementsAre(AllOf(HasSubstr("rollout.max_staleness is 2"),
                                            HasSubstr("as narrow as 0.0004"))));
  config.policy_loss.algorithm = "grpo";
  EXPECT_THAT(warnings(), IsEmpty()) << "its default of 0.2 is not narrow";
  config.policy_loss.algorithm = "gspo";
  config.policy_loss.recompute_old_log_probs = true;
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.recompute_old_log_probs = false;
  config.policy_loss.of<ClipOptions>().clip_high = 0.1;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, SettingsThatDifferFromThoseOfTheLossesPaper) {
  config.policy_loss.algorithm = "cispo";
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<CispoOptions>().ceiling = 1.2;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("policy_loss.cispo.ceiling is 1.2")));
  config.policy_loss.of<CispoOptions>() = {};
  config.policy_loss.algorithm = "sapo";
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<SapoOptions>().tau_negative = 0.9;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("policy_loss.sapo.tau_negative 0.9 is below")));
  config.policy_loss.of<SapoOptions>() = {};
  config.policy_loss.algorithm = "luspo";
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<ClipOptions>().clip_low = 3e-4;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("clip_high are 0.0003 and 0.0025, but those of")));
  config.policy_loss.of<ClipOptions>() = {};
  config.policy_loss.algorithm = "gmpo";
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<GmpoOptions>().high = 0.2;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("policy_loss.gmpo.low and high are 0.4 and 0.2")));
  config.policy_loss.of<GmpoOptions>() = {};
  config.policy_loss.algorithm = "vespo";
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<VespoOptions>().k_negative = 2;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("are 2, 3, 2 and 2, but VESPO")));
  config.policy_loss.of<VespoOptions>() = {};
  config.policy_loss.algorithm = "dppo";
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<DppoOptions>().low = 0.2;
  config.policy_loss.recompute_old_log_probs = true;
  EXPECT_THAT(warnings(),
              ElementsAre(HasSubstr("policy_loss.dppo.low and high are 0.2 and 0.15"),
                          HasSubstr("recompute_old_log_probs is true, but the bounds")));
}

TEST_F(ConfigWarnings, BoundsOfProbabilitiesAreNoClipRange) {
  config.policy_loss.algorithm = "dppo";
  config.policy_loss.of<DppoOptions>() = {.low = 0.005, .high = 0.005};
  config.model.device = "cuda";
  config.tickets.max_staleness = 1;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("policy_loss.dppo.low and high are")));
}

TEST_F(ConfigWarnings, KlCovBesideAClip) {
  config.tickets.prompts_per_step = 2;
  config.update.mini_batch_prompts = 1;
  std::get<KlCovOptions>(config.policy_loss.rules).share = 0.002;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("widen the range of the clip to 1 below and 1e9")));
  config.policy_loss.of<ClipOptions>() = {.clip_low = 1, .clip_high = 1e9};
  EXPECT_THAT(warnings(), IsEmpty()) << "the remedy is no range of the other level";
  config.update.mini_batch_prompts = 2;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("a step has one update")));
  config.update.epochs = 2;
  EXPECT_THAT(warnings(), IsEmpty());
  config.policy_loss.of<ClipOptions>() = {};
  for (const char* algorithm : {"gmpo", "dppo"}) {
    config.policy_loss.algorithm = algorithm;
    EXPECT_THAT(warnings(), ElementsAre(HasSubstr("tokens that have moved far have no gradient")));
  }
}

TEST_F(ConfigWarnings, CurriculaThatRepeatOrAreNotReached) {
  config.data.accuracy_bands = {"0.5-1", "0-0.5"};
  config.tickets.prompts_per_step = 4;
  config.run.steps = 2;
  const auto of_sizes = [&](std::int64_t first, std::int64_t last) {
    const std::vector<PassPlan> plans = {{{.members = {}, .drawn = first}},
                                         {{.members = {}, .drawn = last}}};
    return curriculum_warnings(config, plans);
  };
  EXPECT_THAT(of_sizes(7, 4), IsEmpty());
  EXPECT_THAT(of_sizes(7, 3), ElementsAre(HasSubstr("the last band has 3 prompts, fewer")));
  EXPECT_THAT(of_sizes(8, 4), ElementsAre(HasSubstr("the run draws 8 prompts, and the bands")));
  config.tickets.dynamic_sampling.enabled = true;
  EXPECT_THAT(of_sizes(8, 4), IsEmpty()) << "it may draw more";
}

TEST_F(ConfigWarnings, AnAggregationOtherThanThatOfTheAdvantage) {
  config.policy_loss.algorithm = "grpo";
  config.advantage.estimator = "length_weighted";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr(
                              "policy_loss.aggregation is sequence-mean-token-mean, but "
                              "advantage.estimator length_weighted is meant for token-mean")));
  config.policy_loss.algorithm = "cispo";
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, KeysWithoutEffect) {
  config.policy_loss.tis_level = TisLevel::kSequence;
  EXPECT_THAT(warnings(), ElementsAre("policy_loss: tis_level has no effect, because tis_cap is 0; "
                                      "2 is usual"));
  config.policy_loss.tis_cap = 2;
  EXPECT_THAT(warnings(), IsEmpty());
  config.advantage.of<GroupRelativeOptions>().normalize_by_std = false;
  config.model.lora.alpha = 64;
  EXPECT_THAT(warnings(),
              ElementsAre(HasSubstr("model.lora: alpha has no effect, because rank is 0")));
  config.advantage.estimator = "vl_norm";
  config.model.lora = {};
  EXPECT_THAT(
      warnings(),
      Contains(HasSubstr(
          "advantage: normalize_by_std has no effect, because advantage.estimator is vl_norm")));
  config.advantage = {};
  auto& teaching = std::get<DistillationOptions>(config.policy_loss.rules);
  teaching.teacher = "teacher";
  EXPECT_THAT(
      warnings(),
      ElementsAre(HasSubstr("distillation.teacher has no effect, because the token rule is off")));
  teaching.teacher = "";
  config.policy_loss.of<ClipOptions>().dual_clip = 10;
  config.policy_loss.of<SapoOptions>().tau_positive = 2;
  config.policy_loss.algorithm = "cispo";
  EXPECT_THAT(warnings(),
              ElementsAre("policy_loss: dual_clip, sapo.tau_positive have no effect, "
                          "because the loss is cispo; leave them out, or choose another"));
  config.policy_loss.of<ClipOptions>() = {};
  config.policy_loss.of<SapoOptions>() = {};
  config.policy_loss.kl_estimator = KlEstimator::kK2;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("kl_estimator has no effect, because "
                                                "kl_coefficient is 0")));
  config.policy_loss.kl_coefficient = 0.01;
  config.optimizer.decay_until = 9;
  config.optimizer.min_ratio = 0.1;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("optimizer: decay_until, min_ratio have no effect, "
                                                "because schedule is constant")));
  config.optimizer = {};
  config.tickets.dynamic_sampling.max_rounds = 3;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("rollout.dynamic_sampling: max_rounds has")));
  config.tickets.dynamic_sampling = {};
  config.rollout.barred_ids = {7};
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("rollout: barred_ids has no effect")));
  config.evaluation.every = 5;
  config.rollout.evaluation.min_response_tokens = 10;
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, KeysOfRewardTermsThatAreOff) {
  config.reward.of<OverlongPenaltyOptions>().penalty = 5;
  config.reward.of<CoverageBonusOptions>().per_ngram = 0.5;
  EXPECT_THAT(
      warnings(),
      ElementsAre(HasSubstr("reward.coverage_bonus: per_ngram has no effect, because enabled is "
                            "false"),
                  HasSubstr("reward.overlong: penalty has no effect, because enabled is false")));
  config.reward = {};
  config.reward.of<LengthRewardOptions>().eta = 0.5;
  config.reward.of<LengthRewardOptions>().enabled = false;
  EXPECT_THAT(warnings(), IsEmpty()) << "the term is on by default: a baseline switches it off";
  config.reward = {};
  config.reward.of<LengthRewardOptions>().target_tokens = 100;
  config.reward.of<LengthRewardOptions>().scale_extra_tokens = 1000;
  EXPECT_THAT(warnings(),
              ElementsAre(HasSubstr("reward.length: target_tokens has no effect, because "
                                    "target is reference"),
                          HasSubstr("reward.length: scale_extra_tokens has no effect, "
                                    "because scale_eta is false")));
}

TEST_F(ConfigWarnings, DynamicSamplingThatDoesNotFitTheEstimator) {
  config.tickets.dynamic_sampling.enabled = true;
  config.advantage.estimator = "pass_at_k";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("advantage.estimator pass_at_k gives 0 to groups "
                                                "with fewer than 4 incorrect responses")));
  config.advantage.estimator = "maxrl";
  EXPECT_THAT(warnings(), IsEmpty());
  config.tickets.dynamic_sampling.signal = SignalOf::kReward;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("advantage.estimator maxrl gives 0 to groups "
                                                "without a correct response: set")));
  config.advantage.estimator = "batch";
  EXPECT_THAT(warnings(), IsEmpty());
  config.advantage.of<BatchNormalizedOptions>().baseline = BaselineOf::kStep;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("batch compares groups with each other")));
}

TEST_F(ConfigWarnings, RedundancyThatNoResponseCanReach) {
  config.rollout.sampling.max_response_tokens = 19;  // ten 10-grams
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("reward.redundancy"))));
  config.rollout.sampling.max_response_tokens = 18;
  EXPECT_THAT(warnings(), Contains(HasSubstr("reward.redundancy: 0 for every response of fewer "
                                             "than 19 words or tokens")));
  config.reward.of<RedundancyRewardOptions>().enabled = false;
  EXPECT_THAT(warnings(), Not(Contains(HasSubstr("reward.redundancy"))));
}

TEST_F(ConfigWarnings, AGoalInPercent) {
  config.run.stop_when = "eval_accuracy >= 80";
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("eval_accuracy is a share from 0 to 1")));
  config.run.stop_when = "eval_accuracy >= 0.8";
  EXPECT_THAT(warnings(), IsEmpty());
  config.run.stop_when = "eval_response_length_mean >= 80";
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(ConfigWarnings, EvaluationsThatAreNotMadeOrTellNothing) {
  config.data.evaluation_file = {"held_out.jsonl"};
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("evaluation.every is 0")));
  config.evaluation.every = 5;
  config.rollout.evaluation.max_response_tokens = 64;
  config.evaluation_budgets.budgets = {16, 63};
  EXPECT_THAT(warnings(), IsEmpty());
  config.evaluation_budgets.budgets = {16, 64};
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("evaluation.budgets")));
}

TEST_F(ConfigWarnings, Bf16MatmulsWithoutAMatrixUnit) {
  config.model.device = "cpu-bf16";
  if (has_matrix_unit()) {
    EXPECT_THAT(warnings(), IsEmpty());
  } else {
    EXPECT_THAT(warnings(), ElementsAre(HasSubstr("no AMX")));
  }
}

TEST_F(ConfigWarnings, MoreThreadsThanCpus) {
  config.model.threads = 1024;
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("model.threads is 1024")));
}

}  // namespace
}  // namespace lie
