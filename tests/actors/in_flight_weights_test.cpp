// Weights that change while responses are in flight: the policy version of each token, and plans
// that repeat it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/generator.h"
#include "tests/actors/letters.h"
#include "tests/guarded_operators.h"
#include "tests/host_memory.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using test::LetterPolicy, test::ticket_for, test::tiny_rollout;
using Groups = std::map<std::int64_t, RolloutGroup>;

constexpr std::int64_t kVersions = 3;

RolloutOptions options_of(InFlightWeights how, std::int64_t slots = 7) {
  RolloutOptions options = tiny_rollout();
  options.in_flight_weights = how;
  options.slots = slots;
  options.preemption = how != InFlightWeights::kKeepCache;
  return options;
}

std::vector<Ticket> some_tickets() {
  return {ticket_for(0, "abcdefghij", 5), ticket_for(1, "q", 3),
          ticket_for(2, "thequickbrownfoxjumps", 4), ticket_for(3, std::string(50, 'k') + "x", 3)};
}

/// A policy with three versions of weights, which differ strongly.
class Policy : public LetterPolicy {
 public:
  explicit Policy(std::unique_ptr<Operators> these = make_cpu_operators(1))
      : LetterPolicy({}, std::move(these)) {
    for (std::uint64_t seed = 21; std::ssize(versions_) < kVersions; ++seed) {
      versions_.push_back(initial_weights(test::tiny_config(), seed, *operators));
    }
  }
  void use(std::int64_t version) {
    operators->copy(versions_[static_cast<std::size_t>(version)].flat(), weights.flat());
    transformer.weights_changed();
  }

 private:
  std::vector<Weights> versions_;
};

/// Changes to the next version whenever may_change(passes so far) and the generator allows it.
Groups generate(Policy& policy, const RolloutOptions& options, const std::vector<Ticket>& tickets,
                const std::function<bool(int)>& may_change) {
  Generator generator = policy.generator(options);
  std::int64_t version = 0;
  policy.use(0);
  generator.weights_changed(0);
  for (const Ticket& ticket : tickets) generator.add(ticket);
  Groups groups;
  for (int passes = 1; !generator.idle(); ++passes) {
    for (RolloutGroup& group : generator.step()) groups[group.ticket.group] = std::move(group);
    if (version + 1 == kVersions || !may_change(passes) || !generator.may_change_weights())
      continue;
    policy.use(++version);
    generator.weights_changed(version);
  }
  return groups;
}

Groups with_changes_in_flight(Policy& policy, const RolloutOptions& options) {
  return generate(policy, options, some_tickets(), [](int passes) { return passes % 15 == 0; });
}

/// Returns tickets that plan the policy versions of these groups.
std::vector<Ticket> planned(const Groups& groups) {
  std::vector<Ticket> tickets;
  for (const auto& [number, group] : groups) {
    Ticket& ticket = tickets.emplace_back(group.ticket);
    for (const Response& response : group.responses) ticket.planned.push_back(response.versions);
  }
  return tickets;
}

double log_prob(std::span<const float> logits, std::int32_t id) {
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  return logits[static_cast<std::size_t>(id)] - std::log(sum);
}

/// Computes each token's log-prob by teacher forcing, one token per pass, under the weights of its
/// recorded version. With `keeps` the cache is kept across versions, otherwise each version
/// computes it again.
std::vector<double> expected_log_probs(Policy& policy, const RolloutGroup& group,
                                       const Response& response, bool keeps) {
  KvCache cache(policy.weights.config(), *policy.operators, 64);
  std::vector<std::int32_t> ids = group.prompt_ids;
  std::vector<double> log_probs;
  std::int32_t sequence = cache.open();
  Tensor logits;
  std::size_t read = 0;
  for (const VersionRun& run : response.versions) {
    policy.use(run.policy_version);
    if (!keeps) sequence = cache.open(), read = 0;
    for (std::int64_t i = 0; i < run.tokens; ++i) {
      for (; read < ids.size(); ++read) {
        const DecodeRow row{.token = ids[read], .sequence = sequence, .wants_logits = true};
        logits = policy.transformer.decode(std::span(&row, 1), cache);
      }
      ids.push_back(response.ids[log_probs.size()]);
      log_probs.push_back(log_prob(test::host(logits), ids.back()));
    }
  }
  return log_probs;
}

class InFlight : public testing::TestWithParam<InFlightWeights> {
 protected:
  Policy policy_;
};

TEST_P(InFlight, EveryTokenHasTheLogProbOfItsRecordedVersion) {
  const Groups groups = with_changes_in_flight(policy_, options_of(GetParam()));
  std::size_t most_runs = 0;
  ASSERT_EQ(groups.size(), some_tickets().size());
  for (const auto& [number, group] : groups) {
    EXPECT_EQ(group.ticket.policy_version, group.responses[0].versions[0].policy_version);
    for (const Response& response : group.responses) {
      std::int64_t tokens = 0;
      for (const VersionRun& run : response.versions) tokens += run.tokens;
      ASSERT_EQ(tokens, std::ssize(response.ids));
      most_runs = std::max(most_runs, response.versions.size());
      const auto expected =
          expected_log_probs(policy_, group, response, GetParam() == InFlightWeights::kKeepCache);
      for (std::size_t t = 0; t < expected.size(); ++t) {
        EXPECT_NEAR(response.behavior_log_probs[t], expected[t], 1e-5) << number << " " << t;
      }
    }
  }
  EXPECT_EQ(most_runs, 3U) << "some response has tokens of all versions";
}

TEST_P(InFlight, APlanRepeatsTheTokensForAnySlotsAndTimesOfChange) {
  const Groups groups = with_changes_in_flight(policy_, options_of(GetParam()));
  const bool keeps = GetParam() == InFlightWeights::kKeepCache;
  for (const std::int64_t slots : {keeps ? 15 : 2, 40}) {
    RolloutOptions options = options_of(GetParam(), slots);
    if (!keeps) options.cache_mebibytes = 1;
    const Groups again = generate(policy_, options, planned(groups), [](int) { return true; });
    ASSERT_EQ(again.size(), groups.size()) << slots;
    for (const auto& [number, group] : groups) {
      for (std::size_t i = 0; i < group.responses.size(); ++i) {
        const Response& response = again.at(number).responses[i];
        EXPECT_EQ(response.versions, group.responses[i].versions) << number << " " << i;
        EXPECT_EQ(response.ids, group.responses[i].ids) << number << " " << i;
        EXPECT_EQ(response.behavior_log_probs, group.responses[i].behavior_log_probs);
      }
    }
  }
}

TEST_P(InFlight, ADeviceThatRunsAheadRecordsTheCorrectVersions) {
  Policy ahead(std::make_unique<test::GuardedOperators>());
  const Groups groups = with_changes_in_flight(ahead, options_of(GetParam()));
  const Groups again =
      generate(policy_, options_of(GetParam(), 40), planned(groups), [](int) { return true; });
  std::size_t most_runs = 0;
  ASSERT_EQ(again.size(), some_tickets().size());
  for (const auto& [number, group] : again) {
    for (std::size_t i = 0; i < group.responses.size(); ++i) {
      const Response& response = groups.at(number).responses[i];
      EXPECT_EQ(response.versions, group.responses[i].versions) << number << " " << i;
      EXPECT_EQ(response.ids, group.responses[i].ids) << number << " " << i;
      EXPECT_EQ(response.behavior_log_probs, group.responses[i].behavior_log_probs);
      most_runs = std::max(most_runs, response.versions.size());
    }
  }
  EXPECT_EQ(most_runs, 3U) << "some response has tokens of all versions";
}

TEST_P(InFlight, APartlyPrefilledPromptIsPrefilledAgain) {
  RolloutOptions options = options_of(GetParam());
  options.prefill_tokens = 3;
  const Groups groups = generate(policy_, options, {ticket_for(0, std::string(20, 'k'), 2)},
                                 [](int passes) { return passes == 4; });
  for (const Response& response : groups.at(0).responses) {
    const VersionRuns all = {{1, std::ssize(response.ids)}};
    EXPECT_EQ(response.versions, all);
  }
}

TEST_P(InFlight, AWaitingResponseOccupiesASlotOnlyWithAKeptCache) {
  std::vector<Ticket> tickets;
  for (std::int64_t problem = 0; problem < 8; ++problem) {
    Ticket& ticket = tickets.emplace_back(ticket_for(problem, "abc", 4));
    ticket.planned.assign(4, {{0, 1}, {1, 1}});
  }
  const bool keeps = GetParam() == InFlightWeights::kKeepCache;
  const std::string error = error_of(
      [&] { generate(policy_, options_of(GetParam()), tickets, [](int) { return true; }); });
  EXPECT_EQ(error.find("raise rollout.slots") != std::string::npos, keeps) << error;
}

TEST_P(InFlight, APlanForOtherWeightsIsAnError) {
  Ticket ticket = ticket_for(0, "abc", 1);
  ticket.planned = {{{0, 1}, {1, 100}}};
  Generator generator = policy_.generator(options_of(GetParam()));
  policy_.use(1);
  generator.weights_changed(1);
  generator.add(ticket);
  EXPECT_NE(error_of([&] { generator.step(), generator.step(); }).find("against the schedule"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Caches, InFlight,
                         testing::Values(InFlightWeights::kKeepCache,
                                         InFlightWeights::kRecomputeCache),
                         [](const auto& test) {
                           return test.param == InFlightWeights::kKeepCache ? "Kept" : "Recomputed";
                         });

TEST(InFlightWeights, FinishDelaysNewWeightsUntilNothingIsInFlight) {
  Policy policy;
  const Groups groups = with_changes_in_flight(policy, options_of(InFlightWeights::kFinish));
  for (const auto& [number, group] : groups) {
    for (const Response& response : group.responses) EXPECT_TRUE(response.versions.empty());
  }
}

}  // namespace
}  // namespace lie
