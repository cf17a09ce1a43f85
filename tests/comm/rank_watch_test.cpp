// Reactions to the loss of a rank or host, with six ranks on three hosts.
#include "common/comm/liveness/rank_watch.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lie {
namespace {

/// Ranks 0 1 | 2 3 | 4 5 on hosts h0, h1, h2. Rank 0 is the parent of 1, 2 and 4. Rank 2 is the
/// parent of 3, and rank 4 of 5.
class RankWatchTree : public testing::Test {
 protected:
  RankWatchTree() {
    for (int rank = 0; rank < 6; ++rank) {
      ranks_.push_back(
          std::make_unique<RankWatch>(state_of(rank), [this, rank](int to, const RankNews& news) {
            in_flight_.push_back({rank, to, news});
          }));
    }
    for (const auto& [parent, child] : {std::pair(2, 3), {4, 5}, {0, 4}, {0, 2}, {0, 1}}) {
      rank(parent).add_child(state_of(child));
      rank(child).add_parent(state_of(parent));
    }
    deliver();
  }

  static RankState state_of(int rank) {
    return {rank, "h" + std::to_string(rank / 2), "actor", "step " + std::to_string(rank)};
  }
  RankWatch& rank(int number) { return *ranks_.at(static_cast<std::size_t>(number)); }

  /// Delivers messages until none is left. A rank that has ended neither receives nor sends.
  void deliver() {
    for (; !in_flight_.empty(); in_flight_.pop_front()) {
      const auto [from, to, news] = in_flight_.front();
      if (ended(to)) continue;
      store(to, rank(to).receive(from, news));
    }
  }
  void lose(int by, int neighbor, Loss loss) { store(by, rank(by).lose(neighbor, loss)); }
  void store(int number, const std::optional<LossEnding>& ending) {
    if (ending) endings_[number] = *ending;
  }
  bool ended(int number) const { return endings_.contains(number); }

  /// Returns the ranks that have ended; "!" marks the one that reports. "0 2! 3": rank 2 reports.
  std::string endings() const {
    std::string text;
    for (const auto& [number, ending] : endings_) {
      text += (text.empty() ? "" : " ") + std::to_string(number) + (ending.rank ? "!" : "");
    }
    return text;
  }

  std::map<int, LossEnding> endings_;

 private:
  struct Message {
    int from, to;
    RankNews news;
  };
  std::vector<std::unique_ptr<RankWatch>> ranks_;
  std::deque<Message> in_flight_;
};

TEST_F(RankWatchTree, Rank0HasNewsOfAllRanks) { EXPECT_EQ(rank(0).count_others(), 5); }

TEST_F(RankWatchTree, DeathIsPassedUpReportedByRank0AndEndsAllRanks) {
  RankState busy = state_of(3);
  busy.activity = "step 12";
  rank(3).update(busy);
  deliver();
  lose(2, 3, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "0! 1 2 4 5");
  EXPECT_EQ(endings_[0].rank->rank, 3);
  EXPECT_EQ(endings_[0].rank->host, "h1");
  EXPECT_EQ(endings_[0].rank->activity, "step 12");
}

TEST_F(RankWatchTree, UnresponsiveHostIsReportedWithItsRanks) {
  lose(0, 2, Loss::kUnresponsive);
  deliver();
  EXPECT_EQ(endings(), "0! 1 4 5");
  EXPECT_EQ(endings_[0].rank->rank, 2);
  EXPECT_NE(endings_[0].message.find("(ranks on it: 2)"), std::string::npos);
}

TEST_F(RankWatchTree, LossOfTheFirstRankOfAHostEndsItsOtherRanks) {
  lose(3, 2, Loss::kDied);
  lose(0, 2, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "0! 1 3 4 5");
}

TEST_F(RankWatchTree, LossOfRank0IsReportedByItsLowestChildOnAnotherHost) {
  for (const int child : {1, 2, 4}) lose(child, 0, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "1 2! 3 4 5");
  EXPECT_EQ(endings_[2].rank->rank, 0);
  EXPECT_EQ(endings_[2].rank->activity, "step 0");
  EXPECT_TRUE(endings_[4].waits_for_reporter)
      << "the launcher ends the reporter with the first that ends";
  EXPECT_FALSE(endings_[2].waits_for_reporter);
}

TEST_F(RankWatchTree, RanksWaitForTheReporterWhenTheHostOfRank0IsUnresponsive) {
  for (const int child : {2, 4}) lose(child, 0, Loss::kUnresponsive);
  EXPECT_EQ(endings(), "2! 4");
  EXPECT_TRUE(endings_[4].waits_for_reporter);
}

TEST_F(RankWatchTree, EndedRankIsNotLostAndAnotherBecomesDeputy) {
  rank(0).receive(2, {RankNews::Kind::kEnded, state_of(2)});
  lose(0, 2, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "");
  for (const int child : {1, 4}) lose(child, 0, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "1 4! 5");
}

TEST_F(RankWatchTree, FailingJobReportsNoLoss) {
  rank(3).announce_failure();
  deliver();
  lose(0, 4, Loss::kDied);
  lose(5, 4, Loss::kDied);
  lose(1, 0, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "");
}

TEST_F(RankWatchTree, NothingIsALossAfterRank0HasEnded) {
  rank(2).receive(0, {RankNews::Kind::kEnded, state_of(0)});
  lose(2, 0, Loss::kDied);
  lose(2, 3, Loss::kDied);
  deliver();
  EXPECT_EQ(endings(), "");
}

TEST(RankWatch, WithoutAParentADeathIsReportedOnItsHost) {
  RankWatch first({2, "h1"}, [](int, const RankNews&) {});
  first.add_child({3, "h1"});
  const auto ending = first.lose(3, Loss::kDied);
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->rank->rank, 3);
}

}  // namespace
}  // namespace lie
