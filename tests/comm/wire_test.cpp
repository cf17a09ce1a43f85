#include "common/comm/wire.h"

#include <gtest/gtest.h>

#include <cstring>

#include "common/base/error.h"
#include "tests/comm/example_groups.h"

namespace lie {
namespace {

using wire::pack, wire::unpack;

template <typename Value>
void set(Bytes& message, std::size_t at, Value value) {
  std::memcpy(message.data() + at, &value, sizeof value);
}

TEST(Wire, ScoredGroupKeepsEveryField) {
  ScoredGroup sent = example_scored(9);
  sent.rollout.ticket.fragment = {1, 1};
  sent.rollout.ticket.planned = {{{6, 5}}, {{6, 1}, {7, 2}}};
  sent.rollout.responses[1].versions = {{6, 1}, {7, 2}};
  const auto got = unpack<ScoredGroup>(pack(sent));
  const Ticket& ticket = got.rollout.ticket;
  EXPECT_EQ(ticket.step, 7);
  EXPECT_EQ(ticket.group, 9);
  EXPECT_EQ(ticket.policy_version, 6);
  EXPECT_EQ(ticket.purpose, Purpose::kEvaluate);
  EXPECT_EQ(ticket.samples, 2);
  EXPECT_EQ(ticket.fragment, (SampleRange{1, 1}));
  EXPECT_EQ(ticket.planned, sent.rollout.ticket.planned);
  EXPECT_EQ(ticket.prompt.problem, 50);
  EXPECT_EQ(ticket.prompt.text, sent.rollout.ticket.prompt.text);
  EXPECT_EQ(ticket.prompt.gold, "\\frac{1}{2}");
  EXPECT_EQ(ticket.prompt.data_source, "aime24");
  EXPECT_EQ(ticket.prompt.reference_length, 12.5);
  EXPECT_EQ(ticket.prompt.row, sent.rollout.ticket.prompt.row);
  EXPECT_EQ(got.rollout.prompt_ids, sent.rollout.prompt_ids);
  ASSERT_EQ(got.rollout.responses.size(), 2u);
  EXPECT_EQ(got.rollout.responses[0].ids, sent.rollout.responses[0].ids);
  EXPECT_EQ(got.rollout.responses[0].behavior_log_probs,
            sent.rollout.responses[0].behavior_log_probs);
  EXPECT_EQ(got.rollout.responses[0].finish, FinishReason::kEndOfSequence);
  EXPECT_EQ(got.rollout.responses[1].finish, FinishReason::kLength);
  EXPECT_EQ(got.rollout.prompt_tokens_dropped, 4);
  EXPECT_EQ(got.rollout.responses[1].versions, sent.rollout.responses[1].versions);
  EXPECT_EQ(got.rollout.responses[0].actor, 3);
  EXPECT_EQ(got.rollout.responses[1].actor, 5);
  ASSERT_EQ(got.rollout.actor_clocks.size(), 2u);
  EXPECT_EQ(got.rollout.actor_clocks[0].actor, 3);
  EXPECT_EQ(got.rollout.actor_clocks[0].clock.busy_seconds, 1.25);
  EXPECT_EQ(got.rollout.actor_clocks[1].clock.idle_seconds, 0.5);
  ASSERT_EQ(got.scores.size(), 2u);
  const Score& score = got.scores[0];
  EXPECT_EQ(score.verdict, VerdictCode::kOutOfBudget);
  EXPECT_EQ(score.verify_seconds, 0.5f);
  EXPECT_EQ(score.target_length, 100.25);
  EXPECT_EQ(score.rewards, sent.scores[0].rewards);
  ASSERT_EQ(score.numbers.size(), 1u);
  EXPECT_EQ(score.numbers[0].name, "command_seconds");
  EXPECT_EQ(score.numbers[0].value, 0.125);
  EXPECT_EQ(score.coverage.distinct_ngrams, 11);
  EXPECT_EQ(score.coverage.ngrams, 13);
  EXPECT_EQ(score.coverage.largest_repeat, 2);
  EXPECT_EQ(score.extracted, "42");
  EXPECT_EQ(got.texts, sent.texts);
  EXPECT_EQ(got.reward_worker, 1);
  EXPECT_EQ(got.reward_clock.busy_seconds, 0.5);
  EXPECT_EQ(got.reward_clock.idle_seconds, 8);
}

TEST(Wire, RoundTripIsByteIdentical) {
  Assignment two = example_assignment(3);
  two.tickets.push_back(example_ticket(4));
  const Bytes assignment = pack(two);
  EXPECT_EQ(pack(unpack<Assignment>(assignment)), assignment);
  EXPECT_EQ(unpack<Assignment>(assignment).tickets[1].group, 4);
  EXPECT_EQ(unpack<TicketRequest>(pack(TicketRequest{.free_slots = 17})).free_slots, 17);
  const Bytes rollouts = pack(std::vector{example_rollout(1), example_rollout(2)});
  EXPECT_EQ(pack(unpack<std::vector<RolloutGroup>>(rollouts)), rollouts);
  const Bytes scored = pack(std::vector{example_scored(1), ScoredGroup{}});
  EXPECT_EQ(pack(unpack<std::vector<ScoredGroup>>(scored)), scored);
  EXPECT_TRUE(unpack<std::vector<ScoredGroup>>(pack(std::vector<ScoredGroup>{})).empty());
}

TEST(Wire, EveryTruncationIsAnError) {
  const Bytes intact = pack(example_scored(1));
  for (std::size_t size = 0; size < intact.size(); ++size) {
    Bytes cut(intact.begin(), intact.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW(unpack<ScoredGroup>(cut), Error) << size;
    if (size < wire::kHeaderBytes) continue;
    // a header with the correct length
    set(cut, 8, static_cast<std::uint64_t>(size - wire::kHeaderBytes));
    EXPECT_THROW(unpack<ScoredGroup>(cut), Error) << size;
  }
}

TEST(Wire, SurplusBytesAreAnError) {
  Bytes message = pack(example_assignment(1));
  message.push_back(std::byte{0});
  EXPECT_THROW(unpack<Assignment>(message), Error);
  set(message, 8, static_cast<std::uint64_t>(message.size() - wire::kHeaderBytes));
  EXPECT_THROW(unpack<Assignment>(message), Error);
}

TEST(Wire, ForeignMessagesAreRefused) {
  const Bytes message = pack(example_assignment(1));
  EXPECT_THROW(unpack<RolloutGroup>(message), Error);  // of another kind
  Bytes foreign = message;
  set(foreign, 0, std::uint32_t{0x12345678});
  EXPECT_THROW(unpack<Assignment>(foreign), Error);
  Bytes newer = message;
  set(newer, 4, std::uint16_t{wire::kVersion + 1});
  EXPECT_THROW(unpack<Assignment>(newer), Error);
}

TEST(Wire, DamageIsRefusedOrReadAsItIs) {
  const Bytes intact = pack(std::vector{example_scored(1), example_scored(2)});
  std::size_t refused = 0;
  for (std::size_t at = 0; at < intact.size(); ++at) {
    for (const auto value : {std::byte{0x00}, std::byte{0x7f}, std::byte{0xff}}) {
      Bytes damaged = intact;
      damaged[at] = value;
      try {
        EXPECT_EQ(pack(unpack<std::vector<ScoredGroup>>(damaged)), damaged) << "byte " << at;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST(Wire, UnknownEnumeratorsAreRefused) {
  Assignment assignment;
  assignment.kind = static_cast<Assignment::Kind>(9);
  EXPECT_THROW(unpack<Assignment>(pack(assignment)), Error);
  ScoredGroup scored = example_scored(1);
  scored.scores[0].verdict = static_cast<VerdictCode>(77);
  EXPECT_THROW(unpack<ScoredGroup>(pack(scored)), Error);
}

TEST(Wire, CloseMessageIsRecognized) {
  EXPECT_TRUE(wire::is_close(wire::pack_close()));
  EXPECT_FALSE(wire::is_close(pack(example_assignment(1))));
  EXPECT_THROW(wire::is_close(Bytes(3)), Error);
}

}  // namespace
}  // namespace lie
