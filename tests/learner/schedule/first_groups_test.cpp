#include "learner/schedule/first_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "common/base/error.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using Groups = std::vector<DrawnGroup>;

OpenGroup finished(DrawnGroup drawn, std::int64_t version) { return {drawn, version, true}; }
OpenGroup open(DrawnGroup drawn, std::int64_t version) { return {drawn, version, false}; }

TEST(FirstGroups, AStepTakesTheFirstFinishedGroupsWhicheverStepDrewThem) {
  // Step 3, two groups per step, K = 1: all groups have the weights of steps 1 and 2.
  const std::vector<OpenGroup> groups = {open({3, 0}, 2), finished({3, 1}, 2), open({4, 0}, 2),
                                         finished({4, 1}, 2)};
  EXPECT_EQ(first_groups(groups, 3, 2, 1), (Groups{{3, 1}, {4, 1}}));
  EXPECT_EQ(first_groups({groups[0], groups[1], groups[2]}, 3, 2, 1), Groups());
}

TEST(FirstGroups, GroupsWithTheEarliestDueStepAreTakenFirst) {
  const std::vector<OpenGroup> groups = {finished({5, 0}, 4), finished({4, 2}, 3),
                                         finished({4, 1}, 2), finished({3, 7}, 4)};
  EXPECT_EQ(due_step(groups[2], 2), 5) << "because of its weights";
  EXPECT_EQ(due_step(groups[3], 2), 5) << "because of the step that drew it";
  EXPECT_EQ(first_groups(groups, 5, 2, 2), (Groups{{3, 7}, {4, 1}}));
  EXPECT_EQ(first_groups(groups, 5, 3, 2), (Groups{{3, 7}, {4, 1}, {4, 2}}));
}

TEST(FirstGroups, AStepWaitsForGroupsThatAreDueWithIt) {
  std::vector<OpenGroup> groups = {open({3, 0}, 1), finished({3, 1}, 2), finished({4, 0}, 2),
                                   open({4, 1}, 2)};
  EXPECT_EQ(first_groups(groups, 3, 2, 1), Groups()) << "the open group has the weights of step 1";
  groups[0].is_finished = true;
  EXPECT_EQ(first_groups(groups, 3, 2, 1), (Groups{{3, 0}, {3, 1}}));
}

TEST(FirstGroups, AStepWaitsForGroupsThatLaterStepsCouldNotTakeInTime) {
  // One group per step, and two are due by step 4: step 3 has to take one of them.
  std::vector<OpenGroup> groups = {open({3, 0}, 1), open({4, 0}, 1), finished({5, 0}, 2)};
  EXPECT_EQ(first_groups(groups, 3, 1, 2), Groups());
  groups[1].is_finished = true;
  EXPECT_EQ(first_groups(groups, 3, 1, 2), (Groups{{4, 0}}));
}

TEST(FirstGroups, RecordedGroupsAreTakenOnceAllAreFinished) {
  const std::vector<OpenGroup> groups = {open({3, 0}, 2), finished({3, 1}, 2), finished({4, 0}, 2)};
  EXPECT_EQ(once_finished({{4, 0}, {3, 1}}, groups), (Groups{{4, 0}, {3, 1}}));
  EXPECT_EQ(once_finished({{4, 0}, {3, 0}}, groups), Groups());
  EXPECT_NE(error_of([&] {
              once_finished({{4, 1}}, groups);
            }).find("group 1 of step 4"),
            std::string::npos);
}

/// A run in which groups begin and finish in random order.
class SomeRun {
 public:
  SomeRun(unsigned seed, bool newest_first) : random_(seed), newest_first_(newest_first) {}

  void run() {
    for (std::int64_t step = 1; step <= steps_; ++step) {
      draw_up_to(std::min(step + ahead_, steps_));
      Groups taken = first_groups(groups_, step, count_, max_staleness_);
      while (taken.empty()) {
        ASSERT_TRUE(advances()) << "step " << step << " waits although all groups are finished";
        taken = first_groups(groups_, step, count_, max_staleness_);
      }
      take(step, taken);
      for (std::int64_t i = below(2 * count_); i > 0; --i) advances();  // during the update
      version_ = step;
    }
    EXPECT_TRUE(groups_.empty());
    EXPECT_EQ(std::ssize(seen_), steps_ * count_);
  }
  bool took_others() const { return took_others_; }

 private:
  std::int64_t below(std::int64_t bound) {
    return std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random_);
  }

  void draw_up_to(std::int64_t last) {
    while (drawn_ < last) {
      ++drawn_;
      for (std::int64_t group = 0; group < count_; ++group) {
        groups_.push_back(open({drawn_, group}, version_));
        begun_.push_back(false);
      }
    }
  }

  /// Begins or finishes one group; returns false if all are finished.
  bool advances() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!begun_[g]) groups_[g].policy_version = version_;
    }
    std::vector<std::size_t> can;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].is_finished) can.push_back(g);
    }
    if (can.empty()) return false;
    const std::size_t chosen = newest_first_ && below(4) > 0
                                   ? can.back()
                                   : can[static_cast<std::size_t>(below(std::ssize(can)))];
    if (begun_[chosen]) groups_[chosen].is_finished = true;
    begun_[chosen] = true;
    return true;
  }

  void take(std::int64_t step, const Groups& taken) {
    ASSERT_EQ(std::ssize(taken), count_);
    for (const DrawnGroup& drawn : taken) {
      const auto found = std::ranges::find(groups_, drawn, &OpenGroup::drawn);
      ASSERT_NE(found, groups_.end());
      EXPECT_TRUE(found->is_finished);
      EXPECT_GE(step - 1 - found->policy_version, 0);
      EXPECT_LE(step - 1 - found->policy_version, max_staleness_);
      EXPECT_LE(step - drawn.step, max_staleness_);
      EXPECT_TRUE(seen_.insert(drawn).second) << "taken twice";
      took_others_ = took_others_ || drawn.step != step;
      begun_.erase(begun_.begin() + (found - groups_.begin()));
      groups_.erase(found);
    }
  }

  std::mt19937 random_;
  bool newest_first_;
  std::int64_t max_staleness_ = 1 + below(4), count_ = 1 + below(6), steps_ = 1 + below(25);
  std::int64_t ahead_ = 1 + below(max_staleness_);  // the rule holds for any number
  std::int64_t version_ = 0, drawn_ = 0;
  std::vector<OpenGroup> groups_;
  std::vector<bool> begun_;  // [open groups]
  std::set<DrawnGroup> seen_;
  bool took_others_ = false;
};

TEST(FirstGroups, InAnyOrderOfEventsEachGroupEntersOneStepInTimeAndNoStepBlocks) {
  int with_others = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    SomeRun run(seed, seed % 2 == 0);
    run.run();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
    with_others += run.took_others() ? 1 : 0;
  }
  EXPECT_GT(with_others, 1500) << "runs whose steps take only their own groups test nothing";
}

}  // namespace
}  // namespace lie
