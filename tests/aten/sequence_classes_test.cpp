#include "model/aten/sequence_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace lie::aten {
namespace {

using testing::ElementsAre;

TEST(SequenceClasses, SequencesOfOneMagnitudeAreTogetherInTheirOrder) {
  const std::vector<std::int32_t> starts{0, 600, 610, 1634, 2634, 2634, 2734};
  const auto classes = sequence_classes(starts);
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].longest, 512);
  EXPECT_THAT(classes[0].lengths, ElementsAre(10, 100));
  EXPECT_THAT(classes[0].firsts, ElementsAre(600, 2634, 2734));
  EXPECT_EQ(classes[1].longest, 1024);
  EXPECT_THAT(classes[1].lengths, ElementsAre(600, 1024, 1000, 0));
  EXPECT_THAT(classes[1].firsts, ElementsAre(0, 610, 1634, 2634, 2634));
}

TEST(SequenceClasses, EverySequenceLiesBetweenItsFirstRowAndTheNextOnes) {
  std::vector<std::int32_t> starts{0};
  std::uint32_t state = 3;
  for (int i = 0; i < 200; ++i) {
    state = state * 1664525u + 1013904223u;
    starts.push_back(starts.back() + static_cast<std::int32_t>(state >> 20) % 3000);
  }
  std::int64_t rows = 0;
  for (const SequenceClass& c : sequence_classes(starts)) {
    ASSERT_EQ(c.firsts.size(), c.lengths.size() + 1);
    for (std::size_t s = 0; s < c.lengths.size(); ++s) {
      EXPECT_LE(c.lengths[s], c.longest);
      EXPECT_LE(c.firsts[s] + c.lengths[s], c.firsts[s + 1]);
      rows += c.lengths[s];
    }
  }
  EXPECT_EQ(rows, starts.back());
}

TEST(SequenceClasses, NoSequencesHaveNoClasses) {
  EXPECT_TRUE(sequence_classes(std::vector<std::int32_t>{0}).empty());
  EXPECT_TRUE(sequence_classes(std::vector<std::int32_t>{0, 0}).empty());
}

TEST(KvHeadsAtOnce, TheMostThatFitAndDivideAll) {
  EXPECT_EQ(kv_heads_at_once(8, 10, 80), 8);
  EXPECT_EQ(kv_heads_at_once(8, 10, 79), 4);
  EXPECT_EQ(kv_heads_at_once(6, 10, 59), 3);
  EXPECT_EQ(kv_heads_at_once(8, 10, 9), 1);
}

}  // namespace
}  // namespace lie::aten
