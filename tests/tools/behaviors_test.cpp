#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/error.h"
#include "tests/directories.h"
#include "tools/judge/chat_client.h"
#include "tools/judge/measures.h"
#include "tools/judge/phrases.h"
#include "tools/judge/sampled_responses.h"
#include "tools/judge/summary.h"
#include "tools/judge/texts.h"

namespace lie::judge {
namespace {

using Steps = std::vector<std::vector<std::size_t>>;

TEST(ReasoningGraph, DepthIsTheLongestChainAndWidthTheFullestLevel) {
  const auto shape = graph_shape(Steps{{}, {1}, {1}, {3}, {2, 4}});  // levels 1 2 2 3 4
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->depth, 4u);
  EXPECT_EQ(shape->width, 2u);
}

TEST(ReasoningGraph, AChainIsDeepAndSeparateAttemptsAreWide) {
  EXPECT_EQ(graph_shape(Steps{{}, {1}, {2}, {3}})->depth, 4u);
  EXPECT_EQ(graph_shape(Steps{{}, {1}, {2}, {3}})->width, 1u);
  EXPECT_EQ(graph_shape(Steps{{}, {}, {}})->depth, 1u);
  EXPECT_EQ(graph_shape(Steps{{}, {}, {}})->width, 3u);
  EXPECT_EQ(graph_shape(Steps{})->depth, 0u);
}

TEST(ReasoningGraph, AStepBuildsOnEarlierOnesOnly) {
  EXPECT_FALSE(graph_shape(Steps{{1}}));
  EXPECT_FALSE(graph_shape(Steps{{}, {3}, {}}));
  EXPECT_FALSE(graph_shape(Steps{{}, {0}}));
}

TEST(JudgeAnswer, ThePromptsOwnExamplesAreNoCountsButAGraph) {
  Values values;
  for (std::size_t topic = 0; topic < kGraphTopic; ++topic) {
    EXPECT_FALSE(read_answer(topic, judge_text(kTopics[topic], {}), values)) << kTopics[topic];
  }
  ASSERT_TRUE(read_answer(kGraphTopic, judge_text("graph", {}), values));
  EXPECT_EQ(values[4], 4);
  EXPECT_EQ(values[5], 2);
}

TEST(JudgeAnswer, OnlyTheObjectAtTheEndCounts) {
  Values values;
  EXPECT_TRUE(read_answer(1, "{\"count\": 5} at first, but\n{\"count\": 3}\n```\n", values));
  EXPECT_EQ(values[1], 3);
  EXPECT_FALSE(read_answer(2, "{\"count\": 3}.", values));
  EXPECT_FALSE(read_answer(2, "{\"builds_on\": []}", values));
  EXPECT_FALSE(read_answer(kGraphTopic, "{\"count\": 3}", values));
  EXPECT_FALSE(read_answer(kGraphTopic, "{\"builds_on\": [[], 1]}", values));
  EXPECT_FALSE(values[2] || values[4]);
}

TEST(JudgeText, TheBuiltInTextsAreTheFiles) {
  const std::string directory = std::string(source_directory()) + "/assets/judge";
  for (const char* topic : kTopics) {
    EXPECT_EQ(judge_text(topic, {}), judge_text(topic, directory)) << topic;
  }
  EXPECT_THROW(judge_text("verification", directory + "/none"), Error);
}

TEST(EndpointUrl, LosesTheSlashAtItsEndAndRefusesSecrets) {
  EXPECT_EQ(endpoint_url("http://localhost:8000/v1/"), "http://localhost:8000/v1");
  for (const char* bad : {"https://me:secret@host/v1", "https://host/v1?key=secret"}) {
    try {
      endpoint_url(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
    }
  }
}

Values counted(std::string_view text) {
  static const auto phrases = parse_phrases(judge_text("phrases", {}), "phrases.txt");
  return count_phrases(phrases, text);
}

TEST(Phrases, ASentenceCountsOnceForABehavior) {
  const Values values = counted("Wait, hold on. Let me check and verify that x = 1.5 works! So 3.");
  EXPECT_EQ(values[0], 1);  // verification
  EXPECT_EQ(values[1], 1);  // backtracking
  EXPECT_EQ(values[2], 0);
  EXPECT_FALSE(values[4]);  // no wording shows a graph
}

TEST(Phrases, CaseApostrophesAndPunctuationDoNotMatterButWordsAreWhole) {
  EXPECT_EQ(counted("LET\xE2\x80\x99S, check it.")[0], 1);
  EXPECT_EQ(counted("They waited; await it.")[1], 0);
  EXPECT_EQ(counted("Try\nagain")[1], 1);
  EXPECT_EQ(counted("Try\n\nagain")[1], 0);  // another paragraph
}

TEST(Phrases, AGapHoldsUpToTwelveWordsOfTheSameSentence) {
  const std::string twelve = "a b c d e f g h i j k l";
  EXPECT_EQ(counted("First " + twelve + " then")[2], 1);
  EXPECT_EQ(counted("First " + twelve + " m then")[2], 0);
  EXPECT_EQ(counted("First a. Now then")[2], 0);
  // The second "then" is out of reach of the first "first", not of the second.
  EXPECT_EQ(counted("First " + twelve + " m first then")[2], 1);
}

TEST(Phrases, AListWithAnUnknownBehaviorOrNoWordsNamesItsLine) {
  for (const char* bad : {"# x\nguessing: maybe", "# x\nverification", "# x\nsubgoals: ...",
                          "# x\nsubgoals:", "# x\ngraph_depth: deep"}) {
    try {
      parse_phrases(bad, "mine.txt");
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("mine.txt:2:")) << error.what();
    }
  }
}

// 30 steps of 4 groups of 5 responses.
std::vector<Candidate> candidates() {
  std::vector<Candidate> all;
  for (std::int64_t step = 1; step <= 30; ++step) {
    for (std::int32_t i = 0; i < 20; ++i) all.push_back({step, i / 5, i % 5});
  }
  return all;
}

TEST(Draw, EveryStepGivesOneBeforeAnyGivesTwo) {
  const auto all = candidates();
  const NumberRange ranges[] = {{1, 10}, {11, 30}};
  std::map<std::int64_t, int> by_step;
  for (const std::size_t i : draw(all, ranges, 60, 1)) ++by_step[all[i].step];
  for (std::int64_t step = 1; step <= 10; ++step) EXPECT_EQ(by_step[step], 3);
  for (std::int64_t step = 11; step <= 30; ++step)
    EXPECT_TRUE(by_step[step] == 1 || by_step[step] == 2);
}

TEST(Draw, DependsOnTheSeedAloneAndALargerOneHoldsTheSmaller) {
  const auto all = candidates();
  const NumberRange ranges[] = {{1, 30}};
  const auto small = draw(all, ranges, 40, 1), large = draw(all, ranges, 90, 1);
  EXPECT_EQ(draw(all, ranges, 40, 1), small);
  EXPECT_NE(draw(all, ranges, 40, 2), small);
  EXPECT_TRUE(std::ranges::includes(large, small));
  EXPECT_EQ(draw(all, ranges, 0, 1).size(), all.size());
}

TEST(WithoutMiddle, CutsNoCharacterAndSaysWhatIsLeftOut) {
  EXPECT_EQ(without_middle("short", 5), "short");
  EXPECT_EQ(without_middle("abécdéef", 6), "ab\n[... 4 bytes left out here ...]\néef");
}

// Cohen (1960), in the form of Wikipedia's example: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no give
// 0.4.
TEST(Kappa, IsThatOfTheTextbook) {
  std::vector<std::pair<bool, bool>> ratings;
  ratings.insert(ratings.end(), 20, {true, true});
  ratings.insert(ratings.end(), 5, {true, false});
  ratings.insert(ratings.end(), 10, {false, true});
  ratings.insert(ratings.end(), 15, {false, false});
  EXPECT_NEAR(cohen_kappa(ratings), 0.4, 1e-12);
  const std::vector<std::pair<bool, bool>> constant(3, {true, true});
  EXPECT_TRUE(std::isnan(cohen_kappa(constant)));
}

Measured measured(std::int64_t step, std::optional<double> first, std::optional<double> second) {
  Measured one{step, std::vector<Values>(2)};
  one.passes[0][0] = first;
  one.passes[1][0] = second;
  return one;
}

TEST(Summary, AResponseIsTheMeanOfItsPassesAndMissingOnesAreLeftOut) {
  const std::vector<Measured> all = {measured(1, 2, 4), measured(1, 1, std::nullopt),
                                     measured(1, std::nullopt, std::nullopt), measured(2, 9, 9)};
  const MeasureSummary summary = summarize(all, {1, 1}, 0);
  EXPECT_EQ(summary.responses, 2);
  EXPECT_EQ(summary.mean.value, 2);  // of 3 and 1
  EXPECT_EQ(summary.share.value, 1);
  EXPECT_EQ(summarize(all, {3, 3}, 0).responses, 0);
}

TEST(Summary, AgreementIsOverResponsesThatBothPassesHave) {
  const std::vector<Measured> all = {measured(1, 0, 0), measured(1, 2, 3), measured(1, 5, 5),
                                     measured(1, 7, std::nullopt)};
  const Agreement two = agreement(all, 0);
  EXPECT_EQ(two.responses, 3);
  EXPECT_NEAR(two.exact.value, 2.0 / 3, 1e-12);
  EXPECT_EQ(two.kappa, 1);
  EXPECT_GT(two.pearson, 0.97);
}

}  // namespace
}  // namespace lie::judge
