#include "learner/loss/token_rule/token_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "learner/loss/policy_loss.h"
#include "tests/learner/loss/golden/token_rules.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

PolicyLossOptions options_of(const std::vector<std::string>& settings) {
  PolicyLossOptions options;
  FieldList fields;
  describe(fields, options);
  set_config(fields, settings);
  return options;
}

std::string error_with(const std::vector<std::string>& settings) {
  return error_of([&] { check_options(options_of(settings)); });
}

MiniBatchTokens golden_tokens() {
  MiniBatchTokens tokens{golden_rules::kOldLogProbs, golden_rules::kBehaviorLogProbs,
                         golden_rules::kEntropies, golden_rules::kTeacherLogProbs};
  for (const std::size_t length : golden_rules::kLengths) {
    tokens.starts.push_back(tokens.starts.back() + length);
  }
  tokens.draws = golden_rules::kDraws;
  return tokens;
}

std::vector<TokenTerm> golden_terms() {
  std::vector<TokenTerm> terms;
  for (std::size_t s = 0; s < golden_rules::kLengths.size(); ++s) {
    terms.insert(terms.end(), golden_rules::kLengths[s],
                 {.advantage = golden_rules::kAdvantages[s]});
  }
  return terms;
}

TEST(TokenRules, LossesAndSlopesOfAMiniBatchAgreeWithNumPy) {
  const MiniBatchTokens tokens = golden_tokens();
  const Denominators whole{std::ssize(golden_rules::kLengths), std::ssize(golden_rules::kLogProbs)};
  for (const golden_rules::TokenRules& expected : golden_rules::kTokenRules) {
    SCOPED_TRACE(testing::PrintToString(expected.settings));
    const PolicyLossOptions options = options_of(expected.settings);
    check_options(options);
    std::vector<TokenTerm> terms = golden_terms();
    std::vector<double> counts;
    for (const RuleCount& rule : apply_rules(options, tokens, terms)) {
      counts.push_back(rule.selected);
      EXPECT_EQ(rule.tokens, static_cast<double>(terms.size()));
    }
    EXPECT_EQ(counts, expected.counts);
    PolicyLossStats stats;
    std::vector<float> slopes(terms.size()), of_entropies(terms.size());
    for (std::size_t s = 0; s < golden_rules::kLengths.size(); ++s) {
      const auto part = [&](auto& values) {
        return std::span(values).subspan(tokens.starts[s], golden_rules::kLengths[s]);
      };
      SequenceInput input;
      input.log_probs = part(golden_rules::kLogProbs);
      input.old_log_probs = part(golden_rules::kOldLogProbs);
      input.entropies = part(golden_rules::kEntropies);
      input.advantage = golden_rules::kAdvantages[s];
      input.weight = token_weight(options, whole, std::ssize(input.log_probs));
      input.terms = part(terms);
      policy_loss(options, input, part(slopes), part(of_entropies), stats);
    }
    EXPECT_NEAR(stats.loss, expected.loss, 1e-12);
    for (std::size_t t = 0; t < slopes.size(); ++t) {
      EXPECT_NEAR(slopes[t], expected.slopes[t], 1e-7 * std::abs(expected.slopes[t])) << t;
    }
  }
}

TEST(TokenRules, TheLargestValuesAreTakenInOrderOfPosition) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using Positions = std::vector<std::size_t>;
  EXPECT_EQ(largest(std::vector<double>{1, 3, 3, nan, 3, 2}, 2), (Positions{1, 2}));
  EXPECT_EQ(largest(std::vector<double>{nan, -1, nan}, 2), (Positions{0, 1}));
  EXPECT_EQ(largest(std::vector<double>{4}, 3), (Positions{0}));
  EXPECT_EQ(largest({}, 1), Positions());
}

TEST(TokenRules, AShareSelectsAtLeastOneToken) {
  EXPECT_EQ(count_of_share(1e-9, 5), 1U);
  EXPECT_EQ(count_of_share(0.5, 5), 2U);
  EXPECT_EQ(count_of_share(1, 5), 5U);
  EXPECT_EQ(count_of_share(1, 0), 0U);
}

TEST(TokenRules, NoneApplyByDefault) {
  std::vector<TokenTerm> terms = golden_terms();
  EXPECT_FALSE(any_rule(PolicyLossOptions()));
  EXPECT_TRUE(apply_rules(PolicyLossOptions(), golden_tokens(), terms).empty());
}

TEST(TokenRules, AMiniBatchWithoutTokensSelectsNone) {
  const PolicyLossOptions options =
      options_of({"kl_cov.share=0.5", "clip_cov.share=0.5", "high_entropy.share=0.5",
                  "entropy_advantage.alpha=1", "geometric_mask.high=2"});
  for (const RuleCount& rule : apply_rules(options, {}, {})) EXPECT_EQ(rule.selected, 0);
}

TEST(TokenRules, OneResponseOfOneTokenHasNoCovarianceAndIsChosenAllTheSame) {
  MiniBatchTokens one{{-1}, {-1}, {0.5}};
  one.starts = {0, 1};
  std::vector<TokenTerm> terms = {{.advantage = 2}};
  apply_rules(options_of({"kl_cov.share=0.1"}), one, terms);
  EXPECT_EQ(terms[0].divergence, 1);
  apply_rules(options_of({"clip_cov.share=0.1"}), one, terms);
  EXPECT_EQ(terms[0].factor, 1) << "the covariance is 0, and only tokens above 1 are drawn";
}

TEST(TokenRules, KlCovHasNoGradientWhileThePolicyIsTheOldOne) {
  const PolicyLossOptions options = options_of({"algorithm=grpo", "kl_cov.share=1"});
  const std::vector<float> log_probs = {-1, -2};
  const std::vector<TokenTerm> terms(2, {.advantage = 0, .divergence = 1});
  SequenceInput input{log_probs, log_probs, {}, {}, log_probs};
  input.weight = 1;
  input.terms = terms;
  std::vector<float> slopes(2), of_entropies(2);
  PolicyLossStats stats;
  policy_loss(options, input, slopes, of_entropies, stats);
  EXPECT_EQ(slopes, (std::vector<float>{0, 0}));
  EXPECT_EQ(stats.loss, 0);
}

TEST(TokenRules, TheBonusOfEntropyNeverTurnsTheSignOfAnAdvantage) {
  std::vector<TokenTerm> terms = golden_terms();
  apply_rules(options_of({"entropy_advantage.alpha=100"}), golden_tokens(), terms);
  for (std::size_t t = 0; t < terms.size(); ++t) {
    const double before = golden_terms()[t].advantage;
    EXPECT_EQ(terms[t].advantage, before > 0 ? 1.5 * before : 0.5 * before);
  }
}

TEST(TokenRules, DrawsDependOnTheMiniBatchAlone) {
  const PolicyLossOptions options =
      options_of({"clip_cov.share=0.1", "clip_cov.low=-10", "clip_cov.high=10"});
  std::vector<std::size_t> drawn;
  for (std::uint32_t mini_batch = 0; mini_batch < 8; ++mini_batch) {
    MiniBatchTokens tokens = golden_tokens();
    tokens.draws.problem = mini_batch;
    std::vector<TokenTerm> first = golden_terms(), again = golden_terms();
    apply_rules(options, tokens, first);
    apply_rules(options, tokens, again);
    const auto position = [](const std::vector<TokenTerm>& terms) {
      return static_cast<std::size_t>(std::ranges::find(terms, 0.0, &TokenTerm::factor) -
                                      terms.begin());
    };
    EXPECT_EQ(position(first), position(again));
    drawn.push_back(position(first));
  }
  EXPECT_NE(std::ranges::count(drawn, drawn.front()), 8);
}

TEST(TokenRules, ContradictionsAreRefusedWithTheKey) {
  EXPECT_EQ(error_with({"kl_cov.share=0.1", "clip_cov.share=0.1", "entropy_advantage.alpha=0.4"}),
            "no error");
  EXPECT_NE(
      error_with({"geometric_mask.high=2"}).find("without policy_loss.recompute_old_log_probs"),
      std::string::npos);
  EXPECT_NE(error_with({"geometric_mask.low=1.5", "recompute_old_log_probs=true"})
                .find("policy_loss.geometric_mask.low and high are 1.5 and 0"),
            std::string::npos);
  EXPECT_NE(error_with({"distillation.coefficient=1"}).find("distillation.teacher is not set"),
            std::string::npos);
  EXPECT_NE(error_with({"distillation.coefficient=1", "distillation.teacher=t",
                        "drop_zero_advantages=true"})
                .find("a teacher gives advantages to groups"),
            std::string::npos);
  const std::vector<std::string> taught = {"distillation.coefficient=1", "distillation.teacher=t",
                                           "off_policy_mask.delta=0.1"};
  EXPECT_EQ(error_with(taught), "no error");
  std::vector<std::string> only_taught = taught;
  only_taught.push_back("distillation.with_rewards=false");
  EXPECT_NE(error_with(only_taught).find("whose rewards give a negative advantage"),
            std::string::npos);
  EXPECT_NE(error_with({"kl_cov.share=0.1", "kl_cov.coefficient=0"}).find("would not be held"),
            std::string::npos);
  EXPECT_NE(error_with({"high_entropy.share=0"}).find("no token would have a loss"),
            std::string::npos);
  EXPECT_NE(error_with({"clip_cov.share=1", "clip_cov.low=6"}).find("clip_cov.low 6 is not below"),
            std::string::npos);
  EXPECT_NE(error_with({"entropy_advantage.alpha=1", "entropy_advantage.kappa=1"})
                .find("would turn a negative advantage"),
            std::string::npos);
  Surrogate of_responses;
  of_responses.takes_token_advantages = false;
  EXPECT_NE(error_of([&] {
              check_options(options_of({"entropy_advantage.alpha=1"}), of_responses, true);
            }).find("one advantage per response"),
            std::string::npos);
}

TEST(TokenRules, KlCovWarnsAboutAClip) {
  const auto warnings = [](const std::vector<std::string>& settings) {
    const PolicyLossOptions options = options_of(settings);
    return departures(options, RuleUse{chosen_surrogate(options)}).size();
  };
  EXPECT_EQ(warnings({"algorithm=grpo", "kl_cov.share=0.1"}), 1U);
  EXPECT_EQ(warnings({"algorithm=grpo", "kl_cov.share=0.1", "clip_low=1", "clip_high=1e9"}), 0U);
  EXPECT_EQ(warnings({"algorithm=grpo"}), 0U);
}

TEST(TokenRules, KeysOfARuleThatIsOffAreIdle) {
  const auto idle = [](const std::vector<std::string>& settings) {
    return idle_keys(static_cast<const TokenRuleOptions&>(options_of(settings)));
  };
  const std::vector<std::string> keys = {"distillation.teacher", "kl_cov.coefficient"};
  EXPECT_EQ(idle({"distillation.teacher=t", "kl_cov.coefficient=2"}), keys);
  EXPECT_TRUE(idle({"distillation.teacher=t", "distillation.coefficient=1"}).empty());
}

}  // namespace
}  // namespace lie
