// Example groups in which every field has a value of its own.
#pragma once

#include <cstdint>
#include <string>

#include "common/rollout/rollout.h"

namespace lie {

inline Ticket example_ticket(std::int64_t group) {
  Ticket ticket;
  ticket.step = 7;
  ticket.group = group;
  ticket.policy_version = 6;
  ticket.purpose = Purpose::kEvaluate;
  ticket.samples = 2;
  ticket.prompt = {.problem = 41 + group,
                   .text = "How many pairs? \xe2\x88\x91",
                   .gold = "\\frac{1}{2}",
                   .data_source = "aime24",
                   .reference_length = 12.5,
                   .row = R"({"answer": 1})"};
  return ticket;
}

inline Assignment example_assignment(std::int64_t group) {
  return {.kind = Assignment::Kind::kTickets, .tickets = {example_ticket(group)}};
}

inline RolloutGroup example_rollout(std::int64_t group) {
  RolloutGroup rollout;
  rollout.ticket = example_ticket(group);
  rollout.prompt_ids = {5, 6, 7};
  rollout.responses.push_back(
      {{1, 2, 3}, {-0.1f, -0.2f, -1e-30f}, FinishReason::kEndOfSequence, 3});
  rollout.responses.push_back({{}, {}, FinishReason::kLength, 5});
  rollout.prompt_tokens_dropped = 4;
  rollout.actor_clocks = {{3, {1.25, 0.75}}, {5, {2.5, 0.5}}};
  return rollout;
}

inline ScoredGroup example_scored(std::int64_t group) {
  Score score;
  score.verdict = VerdictCode::kOutOfBudget;
  score.verify_seconds = 0.5f;
  score.target_length = 100.25;
  score.rewards = {1, -0.25f, -0.125f, 0.0625f, -0.5f};
  score.numbers = {{"command_seconds", 0.125}};
  score.coverage = {11, 13, 2};
  score.extracted = "42";
  ScoredGroup scored;
  scored.rollout = example_rollout(group);
  scored.scores = {score, {}};
  scored.texts = {"first", std::string("a\0b", 3)};
  scored.reward_worker = 1;
  scored.reward_clock = {0.5, 8};
  return scored;
}

}  // namespace lie
