#include "learner/record/evaluation_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lie {
namespace {

/// Returns a group of responses of `length` tokens, of which the first `right` are correct.
ScoredGroup group_of(const std::string& source, int right, int responses, std::size_t length = 4) {
  ScoredGroup group;
  group.rollout.ticket.prompt.data_source = source;
  for (int i = 0; i < responses; ++i) {
    Response& response = group.rollout.responses.emplace_back();
    response.ids.resize(length);
    response.finish = length >= 10 ? FinishReason::kLength : FinishReason::kEndOfSequence;
    group.scores.emplace_back().verdict = i < right ? VerdictCode::kEqual : VerdictCode::kUnequal;
  }
  return group;
}

std::map<std::string, double> metrics_of(const std::vector<ScoredGroup>& groups) {
  MetricsWriter out;
  add_evaluation_metrics(out, groups);
  const Metrics metrics = out.take();
  return {metrics.begin(), metrics.end()};
}

/// Returns one fully correct group of MATH 500 and four groups of AMC, of which one is correct.
std::vector<ScoredGroup> two_sources() {
  return {group_of("MATH 500", 2, 2), group_of("amc", 0, 2, 10), group_of("amc", 0, 2, 12),
          group_of("amc", 2, 2, 8), group_of("amc", 0, 2, 10)};
}

TEST(EvaluationMetrics, SourcesHaveEqualWeightInTheMeanOverSources) {
  const auto metrics = metrics_of(two_sources());
  EXPECT_DOUBLE_EQ(metrics.at("eval_accuracy"), 0.4) << "over rows, as without sources";
  EXPECT_DOUBLE_EQ(metrics.at("eval_accuracy_on_MATH_500"), 1);
  EXPECT_DOUBLE_EQ(metrics.at("eval_accuracy_on_amc"), 0.25);
  EXPECT_DOUBLE_EQ(metrics.at("eval_accuracy_source_mean"), 0.625);
}

TEST(EvaluationMetrics, NamesBeyondAsciiTellSourcesApart) {
  const auto metrics = metrics_of({group_of("\u6570\u5b66", 2, 2), group_of("\u7269\u7406", 0, 2),
                                   group_of("a\xff", 0, 2), group_of("b\u202e", 0, 2)});
  EXPECT_DOUBLE_EQ(metrics.at("eval_accuracy_on_\u6570\u5b66"), 1);
  EXPECT_DOUBLE_EQ(metrics.at("eval_accuracy_on_\u7269\u7406"), 0);
  EXPECT_TRUE(metrics.contains("eval_accuracy_on_a_")) << "invalid UTF-8";
  EXPECT_TRUE(metrics.contains("eval_accuracy_on_b___")) << "a change of the text direction";
}

TEST(EvaluationMetrics, ProgramNumbersAlsoHaveAMeanOverSources) {
  std::vector<ScoredGroup> groups = two_sources();
  for (ScoredGroup& group : groups) {
    const bool right = group.rollout.ticket.prompt.data_source == "MATH 500";
    for (Score& score : group.scores) score.numbers.push_back({"correct_at_8", right ? 1.0 : 0.0});
  }
  const auto metrics = metrics_of(groups);
  EXPECT_DOUBLE_EQ(metrics.at("eval_correct_at_8_mean"), 0.2);
  EXPECT_DOUBLE_EQ(metrics.at("eval_correct_at_8_mean_on_amc"), 0);
  EXPECT_DOUBLE_EQ(metrics.at("eval_correct_at_8_source_mean"), 0.5);
}

TEST(EvaluationMetrics, LengthAndTruncationAreAlsoGivenPerSource) {
  const auto metrics = metrics_of(two_sources());
  EXPECT_DOUBLE_EQ(metrics.at("eval_response_length_mean_on_MATH_500"), 4);
  EXPECT_DOUBLE_EQ(metrics.at("eval_response_length_mean_on_amc"), 10);
  EXPECT_DOUBLE_EQ(metrics.at("eval_truncation_rate_on_MATH_500"), 0);
  EXPECT_DOUBLE_EQ(metrics.at("eval_truncation_rate_on_amc"), 0.75);
}

TEST(EvaluationMetrics, ASingleSourceHasNoMetricsPerSource) {
  for (const auto& [name, value] : metrics_of({group_of("amc", 1, 2), group_of("amc", 0, 2)})) {
    EXPECT_EQ(name.find("_on_"), std::string::npos) << name;
    EXPECT_NE(name, kSourceMean);
  }
}

TEST(EvaluationMetrics, NamesAreKnownBeforeAnEvaluation) {
  std::vector<ScoredGroup> groups = two_sources();
  std::vector<Prompt> prompts;
  for (ScoredGroup& group : groups) {
    prompts.push_back(group.rollout.ticket.prompt);
    group.scores[0].numbers.push_back({"c_context_6", 3});
  }
  std::vector<std::string> names = evaluation_metric_names(prompts, groups[0].scores[0]);
  std::ranges::sort(names);
  std::vector<std::string> given;
  for (const auto& [name, value] : metrics_of(groups)) given.push_back(name);
  EXPECT_EQ(names, given);
}

TEST(EvaluationMetrics, SourcesWithEqualNamesGetSuffixes) {
  const auto names = source_names(std::vector<ScoredGroup>{
      group_of("a/b", 0, 1), group_of("a b", 0, 1), group_of("", 0, 1), group_of("v1.0-x", 0, 1)});
  EXPECT_EQ(names, (std::map<std::string, std::string>{
                       {"", "unnamed"}, {"a b", "a_b"}, {"a/b", "a_b_2"}, {"v1.0-x", "v1.0-x"}}));
}

}  // namespace
}  // namespace lie
