#include "learner/record/run_coverage.h"
#include "common/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/io/file.h"
#include "tests/common/golden_rows.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using Texts = std::vector<std::string>;
using Ids = std::vector<std::vector<std::int32_t>>;

ScoredGroup group_of(const Texts& texts, const Ids& ids) {
  ScoredGroup group;
  group.texts = texts;
  for (const auto& response : ids) group.rollout.responses.emplace_back().ids = response;
  return group;
}

/// Returns one group of `count` responses of random ids.
ScoredGroup random_group(std::uint32_t seed, std::size_t count) {
  Ids ids(count, std::vector<std::int32_t>(100));
  for (auto& response : ids) {
    for (auto& id : response) id = static_cast<std::int32_t>((seed = seed * 1664525 + 1) >> 16);
  }
  return group_of(Texts(count), ids);
}

GlobalCoverage add(RunCoverage& coverage, const ScoredGroup& group) {
  return coverage.add_step(std::span(&group, 1)).at(0);
}

const std::vector<CoverageStates> kBigrams = {{.ngram = 2}};
constexpr GlobalCoverageOptions kSmall = {.memory_mebibytes = 1};  // 54,995 n-grams

TEST(RunCoverage, AgreesWithPythonSetsForWordsAndTokensOfEveryN) {
  int rows = 0;
  for (const JsonRow& row : golden_rows("global_coverage.jsonl")) {
    for (const JsonRow& expected : row.rows("counts")) {
      ++rows;
      const std::int64_t n = *expected.integer("n");
      const std::vector<CoverageStates> states = {{n, true, ""}, {n, false, "_tokens"}};
      RunCoverage coverage(states, {});
      const ScoredGroup group = group_of(*row.texts("texts"), row.object().at("ids").get<Ids>());
      const auto counts = coverage.add_step(std::span(&group, 1));
      EXPECT_EQ(counts.at(0).run_distinct, expected.integer("words")) << expected.place();
      EXPECT_EQ(counts.at(1).run_distinct, expected.integer("tokens")) << expected.place();
      EXPECT_EQ(counts.at(1).suffix, "_tokens");
    }
  }
  EXPECT_EQ(rows, 20);
}

TEST(RunCoverage, StepCountsStartAnewAndRunCountsAccumulate) {
  RunCoverage coverage(kBigrams, {});
  const ScoredGroup first = group_of({"", ""}, {{1, 2, 3}, {1, 2}}),
                    second = group_of({""}, {{2, 3, 4}});
  add(coverage, first);
  const GlobalCoverage counts = add(coverage, second);
  EXPECT_EQ(counts.step_distinct, 2);
  EXPECT_EQ(counts.step_ngrams, 2);
  EXPECT_EQ(counts.run_distinct, 3) << "no n-gram spans two responses";
  EXPECT_EQ(counts.run_ngrams, 5);
}

TEST(RunCoverage, TwoNamesForTheSameNgramsShareOneCount) {
  RunCoverage coverage(std::vector<CoverageStates>{{.ngram = 2}, {2, false, "_2"}}, {});
  const ScoredGroup group = random_group(1, 3);
  const auto counts = coverage.add_step(std::span(&group, 1));
  ASSERT_EQ(counts.size(), 2U);
  EXPECT_EQ(counts[1].run_ngrams, 3 * 99) << "not counted twice";
  EXPECT_EQ(counts[1].run_distinct, counts[0].run_distinct);
}

TEST(RunCoverage, AResumedRunHasTheCountsOfAnUninterruptedRun) {
  const TemporaryDirectory directory;
  RunCoverage undisturbed(kBigrams, kSmall);
  bool was_exact = false, was_estimated = false;
  for (std::uint32_t step = 1; step <= 12; ++step) {
    const GlobalCoverage expected = add(undisturbed, random_group(step, 60));
    RunCoverage resumed(kBigrams, kSmall);
    EXPECT_EQ(resumed.restore(directory.path()), step > 1);
    const GlobalCoverage counts = add(resumed, random_group(step, 60));
    resumed.save(directory.path());
    EXPECT_EQ(counts.run_distinct, expected.run_distinct);
    EXPECT_EQ(counts.run_ngrams, expected.run_ngrams);
    EXPECT_EQ(counts.run_error, expected.run_error);
    EXPECT_EQ(counts.step_distinct, expected.step_distinct);
    (counts.run_error > 0 ? was_estimated : was_exact) = true;
  }
  EXPECT_TRUE(was_exact && was_estimated);
}

TEST(RunCoverage, CountsDoNotDependOnTheOrderOfGroups) {
  std::vector<ScoredGroup> groups;
  for (std::uint32_t i = 0; i < 12; ++i) groups.push_back(random_group(i, 60));
  RunCoverage forward(kBigrams, kSmall), backward(kBigrams, kSmall);
  const auto expected = forward.add_step(groups);
  std::ranges::reverse(groups);
  for (ScoredGroup& group : groups) std::ranges::reverse(group.rollout.responses);
  EXPECT_EQ(backward.add_step(groups).at(0).run_distinct, expected.at(0).run_distinct);
  EXPECT_GT(expected.at(0).run_error, 0);
}

TEST(RunCoverage, RestoreDistinguishesMissingDamagedAndForeignFiles) {
  const TemporaryDirectory directory;
  RunCoverage coverage(kBigrams, {});
  EXPECT_FALSE(coverage.restore(directory.path()));
  add(coverage, random_group(1, 3));
  coverage.save(directory.path());
  const std::string bytes = read_file(directory.path() / kCoverageFile);
  const auto error = [&](std::int64_t n) {
    RunCoverage other(std::vector<CoverageStates>{{.ngram = n}}, {});
    return error_of([&] { other.restore(directory.path()); });
  };
  EXPECT_EQ(error(2), "no error");
  EXPECT_NE(error(3).find("counts other n-grams than the config"), std::string::npos) << error(3);
  for (const std::string& damaged : {bytes.substr(0, bytes.size() - 1), bytes + "x"}) {
    directory.write(kCoverageFile, damaged);
    EXPECT_NE(error(2).find("coverage.bin: damaged; remove"), std::string::npos) << error(2);
  }
  directory.write(kCoverageFile, "LIECOV99");
  EXPECT_NE(error(2).find("version 1"), std::string::npos) << error(2);
}

}  // namespace
}  // namespace lie
