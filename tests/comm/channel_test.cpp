#include "common/comm/channel.h"

#include <gtest/gtest.h>

#include "tests/comm/example_groups.h"
#include "tests/comm/mpi_main.h"

namespace lie {
namespace {

/// Returns a tag for one stream of this file.
Tag stream_tag(int number) { return static_cast<Tag>(static_cast<int>(Tag::kFirstFree) + number); }

/// Returns a rollout group of about `tokens` tokens, all of which have the value `group`.
RolloutGroup long_rollout(std::int64_t group, std::size_t tokens) {
  RolloutGroup rollout = example_rollout(group);
  rollout.responses[0].ids.assign(tokens, static_cast<std::int32_t>(group));
  rollout.responses[0].behavior_log_probs.assign(tokens, -0.5f);
  return rollout;
}

TEST(Channel, SourceReceivesFromAllSendersAndEndsWhenAllHaveClosed) {
  Job& job = test_job();
  if (job.size() == 1) GTEST_SKIP() << "needs two ranks";
  constexpr std::int64_t kEach = 40;
  if (job.rank() > 0) {
    MpiSink<RolloutGroup> sink(job, stream_tag(0), {0});
    for (std::int64_t i = 0; i < kEach; ++i) {
      sink.send(long_rollout(job.rank() * 1000 + i, i % 4 == 0 ? 50'000 : 3));
    }
    sink.close();
    return;
  }
  MpiSource<RolloutGroup> source(job, stream_tag(0), job.size() - 1);
  std::vector<std::int64_t> next(static_cast<std::size_t>(job.size()), 0);
  while (const std::optional<RolloutGroup> group = source.receive()) {
    const auto sender = static_cast<std::size_t>(group->ticket.group / 1000);
    EXPECT_EQ(group->ticket.group % 1000, next[sender]++) << "one sender's values keep their order";
    for (const std::int32_t id : group->responses[0].ids) ASSERT_EQ(id, group->responses[0].ids[0]);
  }
  for (std::size_t sender = 1; sender < next.size(); ++sender) EXPECT_EQ(next[sender], kEach);
  EXPECT_FALSE(source.try_receive());
}

TEST(Channel, AllFragmentsOfAGroupReachOneReceiver) {
  Job& job = test_job();
  if (job.size() == 1) GTEST_SKIP() << "needs two ranks";
  if (job.rank() == 0) {
    std::vector<int> receivers;
    for (int rank = 1; rank < job.size(); ++rank) receivers.push_back(rank);
    MpiSink<ScoredGroup> sink(job, stream_tag(1), receivers);
    for (const std::int64_t part : {0, 1}) {
      for (std::int64_t i = part; i < 3 * (job.size() - 1); ++i) sink.send(example_scored(i));
    }
    sink.close();
    return;
  }
  MpiSource<ScoredGroup> source(job, stream_tag(1), 1);
  std::int64_t received = 0;
  for (; const std::optional<ScoredGroup> group = source.receive(); ++received) {
    EXPECT_EQ(group->rollout.ticket.group % (job.size() - 1), job.rank() - 1);
  }
  EXPECT_EQ(received, job.rank() == 1 ? 5 : 6) << "three groups, of which one was sent once";
}

/// Every rank sends more messages than a sink keeps in flight before any rank receives. This cycle
/// would deadlock if waiting ranks did not receive messages.
TEST(Channel, CyclicSendersDoNotDeadlock) {
  Job& job = test_job();
  if (job.size() == 1) GTEST_SKIP() << "needs two ranks";
  constexpr std::int64_t kCount = 60;
  MpiSource<RolloutGroup> source(job, stream_tag(2), 1);
  MpiSink<RolloutGroup> sink(job, stream_tag(2), {(job.rank() + 1) % job.size()});
  for (std::int64_t i = 0; i < kCount; ++i) sink.send(long_rollout(i, 30'000));
  sink.close();
  for (std::int64_t i = 0; i < kCount; ++i) EXPECT_EQ(source.receive()->ticket.group, i);
  EXPECT_FALSE(source.receive());
}

TEST(Channel, WorldOfOneRankHasNoMessages) {
  if (test_job().size() > 1) GTEST_SKIP() << "needs one rank";
  EXPECT_THROW((MpiSource<RolloutGroup>(test_job(), stream_tag(3), 1)), Error);
}

}  // namespace
}  // namespace lie
