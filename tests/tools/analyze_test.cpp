#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "common/base/error.h"
#include "common/base/identity.h"
#include "common/base/run_files.h"
#include "common/io/metrics_log.h"
#include "common/io/sha256.h"
#include "common/process/start_record.h"
#include "common/process/writer_lock.h"
#include "tests/temporary_directory.h"
#include "tests/tools/example_run.h"
#include "tools/analyze/check.h"
#include "tools/analyze/curves.h"
#include "tools/analyze/report/page.h"
#include "tools/analyze/report/report.h"
#include "tools/analyze/report/shown_responses.h"
#include "tools/analyze/responses.h"
#include "tools/analyze/run.h"
#include "tools/analyze/table.h"
#include "tools/analyze/weights_digest.h"
#include "tools/statistics/intervals.h"

namespace lie::analyze {
namespace {

fs::path fresh(const std::string& name) {
  static const TemporaryDirectory all;
  fs::remove_all(all.path() / name);
  return all.path() / name;
}

fs::path example(const std::string& name, ExampleRun run = {.steps = 12, .planned = 12}) {
  const fs::path path = fresh(name);
  write_example_run(path, run);
  return path;
}

struct Outcome {
  int status = 0;
  std::string output;  // both streams
};

Outcome lie_analyze(const std::string& arguments) {
  Outcome outcome;
  const std::string command = std::string(LIE_ANALYZE) + " " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[4096];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe))
    outcome.output.append(buffer, n);
  outcome.status = WEXITSTATUS(::pclose(pipe));
  return outcome;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Subject subject_of(const std::vector<fs::path>& directories) {
  Subject subject{"subject", {}};
  for (const fs::path& directory : directories) subject.runs.push_back(load_run(directory));
  return subject;
}

TEST(LieAnalyze, DigestIsEqualForEqualRunsAndDiffersForOthers) {
  const fs::path a = example("digest-a"), b = example("digest-b");
  const fs::path c = example("digest-c", {.steps = 12, .planned = 12, .seed = 2});
  const Outcome first = lie_analyze("--digest " + a.string());
  EXPECT_EQ(first.status, 0);
  EXPECT_TRUE(first.output.starts_with("trajectories ")) << first.output;
  EXPECT_TRUE(holds(first.output, "\nweights ")) << first.output;
  EXPECT_EQ(lie_analyze("--digest " + b.string()).output, first.output);
  EXPECT_NE(lie_analyze("--digest " + c.string()).output, first.output);
}

TEST(LieAnalyze, WeightsDigestIsOverTensorBytesByName) {
  const fs::path directory = example("weights") / "checkpoints" / "step-000012";
  const std::vector<float> values(16, 1.0F);  // a.weight, then b.weight
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), 64);
  EXPECT_EQ(weights_digest(directory), sha256_hex(bytes));
}

void flip_a_bit(const fs::path& path, std::size_t byte) {
  std::string bytes = read_file(path);
  bytes.at(byte) ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Writes a run of two learners with three segments each, and with checksums in its metrics.
fs::path run_of_many_files(const std::string& name) {
  const fs::path run =
      example(name, {.steps = 12, .planned = 12, .segment_steps = 4, .learners = 2});
  const MetricsLog with_checksums(run / "metrics.jsonl", read_metrics(run / "metrics.jsonl"));
  return run;
}

TEST(Check, ReportsAnIntactRunAndWhatWasRead) {
  const Outcome outcome = lie_analyze("--check " + run_of_many_files("intact").string());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "trajectories: 6 files")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "metrics.jsonl: 13 lines")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "\nintact\n")) << outcome.output;
}

TEST(Check, NamesEveryDamagedOrMissingFileWithWhatIsLost) {
  const fs::path run = run_of_many_files("check-damaged");
  const fs::path log = run / "trajectories";
  const fs::path rotten = log / "learner-000-segment-000004.h5";
  flip_a_bit(rotten, fs::file_size(rotten) / 2);
  fs::remove(log / "learner-001-segment-000008.h5");
  const std::string metrics = read_file(run / "metrics.jsonl");
  flip_a_bit(run / "metrics.jsonl", metrics.find("accuracy\":", metrics.size() / 2) + 12);
  flip_a_bit(run / "checkpoints" / "step-000012" / "model.safetensors", 200);
  flip_a_bit(run / "config.yaml", read_file(run / "config.yaml").find("0.01") + 3);
  const Outcome outcome = lie_analyze("--check " + run.string());
  EXPECT_EQ(outcome.status, 1);
  for (const char* words :
       {"DAMAGED  ", "learner-000-segment-000004.h5: ", " of learner 0\n",
        "learner-001-segment-000008.h5 is missing\n  lost    steps 9 to 12 of learner 1\n",
        "metrics.jsonl:8: the line does not fit its checksum",
        "step-000012: model.safetensors: ", "config.yaml: differs", "\n5 faults\n"}) {
    EXPECT_TRUE(holds(outcome.output, words)) << words << "\n" << outcome.output;
  }
}

TEST(Check, FilesBeingWrittenAreNoFault) {
  const fs::path run = run_of_many_files("check-live");
  const auto cut = [&](const fs::path& path, std::size_t bytes) {
    fs::resize_file(path, fs::file_size(path) - bytes);
  };
  cut(run / "metrics.jsonl", 20);
  EXPECT_TRUE(check_run(run).faults.empty()) << text_of(check_run(run));
  cut(run / "trajectories" / "learner-000-segment-000008.h5",
      20);  // in the index, so it is not being written
  EXPECT_EQ(check_run(run).faults.size(), 1U);
}

/// Returns the data of the page at `path`.
Json shown_data(const fs::path& path) {
  const std::string html = read_file(path);
  constexpr std::string_view kBegin = "id=data>";
  const std::size_t begin = html.find(kBegin) + kBegin.size();
  return parse_json(html.substr(begin, html.find("</script>", begin) - begin), path.string());
}

TEST(Check, NotesLinesOfOlderBuildsWithoutChecksums) {
  const fs::path run = example("check-older");
  const Validity found = check_run(run);
  EXPECT_TRUE(found.faults.empty()) << text_of(found);
  EXPECT_TRUE(holds(text_of(found), "metrics.jsonl: has no checksums"));
}

TEST(LieAnalyze, ReportsErrorsInOneLine) {
  const fs::path empty = fresh("empty");
  fs::create_directories(empty);
  for (const std::string& arguments :
       {std::string("/nonexistent"), empty.string(), std::string("--digest /nonexistent"),
        std::string("--group nonsense"), std::string()}) {
    const Outcome outcome = lie_analyze(arguments);
    const bool is_refused = arguments.empty() || arguments == "--group nonsense";
    EXPECT_EQ(outcome.status, is_refused ? 106 : 1) << arguments;
    EXPECT_TRUE(outcome.output.starts_with("lie_analyze: ")) << outcome.output;
    EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 1) << outcome.output;
  }
}

TEST(LieAnalyze, WritesTableReportAndCsv) {
  const fs::path run = example("all");
  const Outcome outcome = lie_analyze(run.string() + " --csv " + (run / "curves.csv").string());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "finished: 12 steps")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "response length, tokens")) << outcome.output;
  const std::string html = read_file(run / "report.html");
  EXPECT_FALSE(holds(html, "src=")) << "the report must need nothing else";
  EXPECT_FALSE(holds(html, "http"));
  const Json shown = shown_data(run / "report.html").at("subjects").at(0);
  EXPECT_EQ(shown.at("runs").at(0).at("starts").at(0).at("begun"), "2027-01-15 08:00 UTC");
  EXPECT_EQ(shown.at("curves").at("accuracy").size(), 12U);
  EXPECT_FALSE(shown.at("trap").at("hazard").at("end").empty());
  const std::string csv = read_file(run / "curves.csv");
  EXPECT_TRUE(csv.starts_with("run,directory,step,accuracy,"));
  EXPECT_TRUE(holds(csv, fmt::format("\n\"all\",\"{}\",12,", run.string()))) << csv;
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 13);  // header, step 0 (evaluation), 12 steps
}

TEST(LieAnalyze, RunsOfEqualNamesHaveTheirPathsInTableAndCsv) {
  const fs::path one = example("one/same"), other = example("other/same");
  const std::string csv = (one / "curves.csv").string();
  const Outcome outcome =
      lie_analyze(fmt::format("{} {} --no-html --csv {}", one.string(), other.string(), csv));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (const fs::path& run : {one, other}) {
    EXPECT_TRUE(holds(outcome.output, run.string())) << outcome.output;
    EXPECT_TRUE(holds(read_file(csv), "\"" + run.string() + "\",1,")) << run;
  }
}

TEST(LieAnalyze, GroupsKeepTheirNamesInTableAndCsv) {
  const fs::path alone = example("alone/same"), one = example("seed-1/a"),
                 two = example("seed-2/a");
  const std::string csv = (alone / "curves.csv").string();
  const Outcome outcome = lie_analyze(fmt::format("{} --group same={},{} --no-html --csv {}",
                                                  alone.string(), one.string(), two.string(), csv));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(outcome.output.starts_with(alone.string() + "\n")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "\nsame\n")) << outcome.output;
  for (const fs::path& seed : {one, two}) {
    EXPECT_TRUE(holds(read_file(csv), fmt::format("\n\"same\",\"{}\",1,", seed.string())));
  }
}

TEST(LieAnalyze, RefusesTwoGroupsOfOneName) {
  const Outcome outcome = lie_analyze("--group g=a --group g=b");
  EXPECT_EQ(outcome.status, 106) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "--group g=b: an earlier --group has this name"))
      << outcome.output;
}

TEST(LieAnalyze, ARunCountsAsOneSeed) {
  const fs::path one = example("once/a"), copy = example("once/b");
  const Outcome twice =
      lie_analyze(fmt::format("--group g={0},{1}/../a", one.string(), copy.string()));
  EXPECT_EQ(twice.status, 106) << twice.output;
  EXPECT_TRUE(holds(twice.output, "is named twice, and would count as two seeds")) << twice.output;
  const Outcome equal =
      lie_analyze(fmt::format("--no-html --group g={},{}", one.string(), copy.string()));
  EXPECT_EQ(equal.status, 0);
  EXPECT_TRUE(holds(equal.output, "run.seed is 1, as in " + one.string())) << equal.output;
}

TEST(LieAnalyze, RefusesOptionsThatAnotherWouldIgnore) {
  for (const char* action : {"--check", "--digest", "--close"}) {
    for (const char* option : {"--csv x.csv", "--html x.html", "--watch 1"}) {
      const Outcome outcome = lie_analyze(fmt::format("{} {} run", action, option));
      EXPECT_GT(outcome.status, 100) << action << " " << option;
      EXPECT_TRUE(holds(outcome.output, "excludes")) << outcome.output;
    }
  }
  EXPECT_GT(lie_analyze("--check --digest run").status, 100);
}

TEST(LieAnalyze, ChecksTheRunsOfGroups) {
  const fs::path intact = example("check/intact"), damaged = example("check/damaged");
  write_file_atomically(damaged / "config.yaml", read_file(damaged / "config.yaml") + "# edited\n");
  const std::string command =
      fmt::format("{} --check --group g={}", intact.string(), damaged.string());
  const Outcome outcome = lie_analyze(command);
  EXPECT_EQ(outcome.status == 0, lie_analyze(damaged.string() + " --check").status == 0);
  EXPECT_TRUE(holds(outcome.output, damaged.string())) << outcome.output;
}

TEST(LieAnalyze, MakesCurvesWithTheAdvantageSettingsOfTheRunAlsoByTheirFormerNames) {
  const auto curves_with = [](const std::string& settings) {
    const fs::path run = example("advantages");
    fs::remove(run / "metrics.jsonl");
    write_file_atomically(run / "config.yaml", read_file(run / "config.yaml") + settings);
    EXPECT_EQ(lie_analyze(run.string() + " --csv " + (run / "curves.csv").string()).status, 0);
    return read_file(run / "curves.csv");
  };
  const std::string current = curves_with("advantage:\n  normalize_by_std: false\n");
  EXPECT_EQ(curves_with("advantage:\n  normalise_by_std: false\n"), current);
  EXPECT_NE(curves_with(""), current);
}

TEST(LieAnalyze, ShowsCoverageOfFurtherNAndNotesEstimates) {
  const fs::path run = example("coverage");
  std::string metrics = read_file(run / "metrics.jsonl");
  for (const int step : {8, 9, 10, 11, 12}) {
    const std::string begin = fmt::format("{{\"step\":{},", step);
    metrics.replace(metrics.find(begin), begin.size(),
                    begin + R"("c_context_15_mean":3.5,"r_context_15_mean":0.5,)"
                            R"("c_global_15_run":77,"c_global_run_error":0.00203125,)");
  }
  write_file_atomically(run / "metrics.jsonl", metrics);
  const std::string table = lie_analyze(run.string()).output;
  EXPECT_TRUE(holds(table, "C_context, n = 15")) << table;
  EXPECT_TRUE(holds(table, "C_global of the run, n = 15")) << table;
  const std::string note = "c_global_run is an estimate from step 8 on (standard error 0.20 %)";
  EXPECT_TRUE(holds(table, "note: " + note)) << table;
  const Json shown = shown_data(run / "report.html");
  EXPECT_EQ(shown.at("ngrams"), Json::array({15}));
  EXPECT_EQ(shown.at("subjects").at(0).at("runs").at(0).at("notes").at(0), note);
  EXPECT_FALSE(holds(lie_analyze(example("exact").string()).output, "is an estimate"));
}

TEST(LieAnalyze, ShowsAccuracyBySourceIfThereAreSeveral) {
  const fs::path run = example("sources");
  std::string metrics = read_file(run / "metrics.jsonl");
  for (const auto& [step, amc] : {std::pair{0, 0.25}, {10, 0.75}}) {
    const std::string begin = fmt::format("{{\"step\":{},", step);
    metrics.replace(metrics.find(begin), begin.size(),
                    fmt::format("{}\"eval_accuracy_source_mean\":{},\"eval_accuracy_on_amc\":{},",
                                begin, amc / 2, amc));
  }
  write_file_atomically(run / "metrics.jsonl", metrics);
  const std::string table = lie_analyze(run.string()).output;
  const auto line = [](std::string_view source, std::string_view start, std::string_view end) {
    return fmt::format("    {:<48} {}  {}\n", source, start, end);
  };
  EXPECT_TRUE(holds(table, line("mean over sources", "0.125", "0.375"))) << table;
  EXPECT_TRUE(holds(table, line("amc", "0.250", "0.750"))) << table;
  const Json shown = shown_data(run / "report.html");
  EXPECT_EQ(shown.at("sources").at(0), Json({{"name", "amc"}, {"metric", "eval_accuracy_on_amc"}}));
  EXPECT_EQ(shown.at("subjects").at(0).at("ends").at(shown.at("source_mean")),
            Json::array({"0.125", "0.375", "0.375", "0.375"}));
  EXPECT_FALSE(holds(lie_analyze(example("one-source").string()).output, "mean over sources"));
}

TEST(LieAnalyze, ShowsEveryVerdictOfTheVerifier) {
  const fs::path run = example("verdicts");
  std::string metrics = read_file(run / "metrics.jsonl");
  const auto lines = verdict_lines();
  ASSERT_EQ(lines.size(), kVerdictCount);
  EXPECT_EQ(lines.back().metric, "verdict_copied_share");
  EXPECT_EQ(lines[2].words, "no answer");
  const std::string begin = "{\"step\":12,";
  metrics.replace(metrics.find(begin), begin.size(), begin + "\"verdict_copied_share\":0.00125,");
  write_file_atomically(run / "metrics.jsonl", metrics);
  const std::string table = lie_analyze(run.string()).output;
  EXPECT_TRUE(holds(table, "verdict copied")) << table;
  EXPECT_TRUE(holds(table, " 0.12 %")) << "a small share" << table;
  EXPECT_EQ(shown_data(run / "report.html").at("verdicts").back().at("name"), "copied");
}

TEST(LieAnalyze, SharesBelowOnePercentArePercentages) {
  EXPECT_EQ(value_text("truncation_rate", 0.000326), "0.033 %");
  EXPECT_EQ(value_text("eval_accuracy", 0.0099), "0.99 %");
  EXPECT_EQ(value_text("accuracy", 0.25), "0.250");
  EXPECT_EQ(value_text("accuracy", 0), "0");
  EXPECT_EQ(value_text("learning_rate", 0.000001), "1.00e-06") << "not a share";
}

TEST(LieAnalyze, ALineOfTheTableHasOneUnit) {
  const fs::path run = example("units");
  std::string metrics = read_file(run / "metrics.jsonl");
  for (const auto& [step, share] : {std::pair(1, "0.048"), std::pair(12, "0.00044")}) {
    const std::string begin = fmt::format("{{\"step\":{},", step);
    metrics.replace(metrics.find(begin), begin.size(),
                    begin + fmt::format("\"verdict_copied_share\":{},", share));
  }
  write_file_atomically(run / "metrics.jsonl", metrics);
  const std::string table = lie_analyze(run.string()).output;
  EXPECT_TRUE(holds(table, " 4.8 %  0.044 %")) << table;
}

TEST(LieAnalyze, ReportsTheProgressOfAnUnfinishedRun) {
  const fs::path run = example("progress", {.steps = 3, .planned = 40, .checkpoint = false});
  EXPECT_TRUE(holds(load_run(run).state, "step 3 of 40"));
  EXPECT_TRUE(holds(lie_analyze("--digest " + run.string()).output, "weights none"));
}

TEST(LieAnalyze, ReportsARunThatHasOnlyAConfig) {
  const fs::path run = fresh("begun");
  fs::create_directories(run);
  write_file_atomically(run / "config.yaml", "run:\n  steps: 40\n");
  const Outcome outcome = lie_analyze(run.string());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "no training step is complete yet")) << outcome.output;
}

TEST(LieAnalyze, ComputesCurvesFromTrajectoriesWithoutMetricsFile) {
  const fs::path with = example("with"),
                 without = example("without", {.steps = 12, .planned = 12, .metrics = false});
  const analyze::Run a = load_run(with), b = load_run(without);
  EXPECT_EQ(b.last_step, 12);
  for (const char* metric : {"accuracy", "response_length_mean", "c_context_mean", "r_context_mean",
                             "eval_accuracy", "reward_length_mean", "truncation_rate"}) {
    const Curve expected = curve_of(a, metric), derived = curve_of(b, metric);
    ASSERT_EQ(expected.size(), derived.size()) << metric;
    for (const auto& [step, value] : expected) EXPECT_NEAR(derived.at(step), value, 1e-4) << metric;
  }
}

TEST(LieAnalyze, NamesTheDamagedLineOfAMetricsFileAndReportsTheOthers) {
  const fs::path run = example("damaged");
  write_file_atomically(run / "metrics.jsonl", "{\"step\":1,\"accuracy\":0.5}\nnot json\n");
  const Outcome outcome = lie_analyze(run.string());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.output, "metrics.jsonl:2")) << outcome.output;
}

TEST(Report, ShowsTheSettingsOfEachSubjectAndAllValuesOfItsSeeds) {
  const fs::path long_run = example("settings-lie", {.steps = 3, .planned = 3});
  const fs::path short_run =
      example("settings-gspo", {.steps = 3, .planned = 3, .last_length = 25});
  const Subject both[] = {subject_of({long_run}), subject_of({long_run, short_run})};
  const Json data = report_data(both, {.responses = 2});
  const auto shows = [&](std::size_t subject, const char* key, const char* value) {
    const Json& settings = data.at("subjects").at(subject).at("settings");
    return std::ranges::count(settings, Json::array({key, value})) == 1;
  };
  EXPECT_TRUE(shows(0, "reward.length.enabled", "true"));
  EXPECT_TRUE(shows(1, "reward.length.enabled", "true | false"));
  EXPECT_TRUE(shows(1, "policy_loss.algorithm", "gspo"));
}

/// Returns a subject of one run with one metric.
Subject subject_with(const std::string& metric, const Curve& curve) {
  Subject subject{"subject", std::vector<analyze::Run>(1)};
  subject.runs[0].curves[metric] = curve;
  return subject;
}

TEST(ShownCurves, OmitValuesThatAreNotFinite) {
  const Subject subjects[] = {subject_with("loss", {{1, NAN}, {2, 0.5}, {3, INFINITY}})};
  const ShownCurves curves = shown_curves(subjects);
  EXPECT_EQ(curves.by_subject.at(0).at("loss").dump(), "[[2,0.5]]");
  EXPECT_TRUE(curves.grid.empty());
}

TEST(ShownCurves, ManyStepsAreReducedToEndsAndExtremesAtTheSameStepsInAllRuns) {
  std::vector<Subject> subjects;
  for (int run = 0; run < 2; ++run) {
    Curve curve;
    for (int step = 1; step <= 100000; ++step) curve[step] = step == 77777 + run ? 50 : step % 10;
    subjects.push_back(subject_with("loss", curve));
  }
  const ShownCurves curves = shown_curves(subjects);
  const Json& first = curves.by_subject.at(0).at("loss");
  EXPECT_LT(first.size(), 700U);
  for (const auto& point : {std::pair{1, 1.0}, {100000, 0.0}, {77777, 50.0}, {77778, 8.0}}) {
    EXPECT_EQ(std::ranges::count(first, Json(point)), 1) << point.first;
  }
  std::set<std::int64_t> steps;
  for (const Json& point : first) steps.insert(point.at(0).get<std::int64_t>());
  EXPECT_TRUE(std::ranges::includes(steps, curves.grid));
}

TEST(Page, NoTextEndsItsDataOrIsInvalid) {
  const std::string html = page({{"name", "</script>\"\xff"}});
  EXPECT_TRUE(holds(html, "id=data>{\"name\":\"\\u003c/script>\\\"\xef\xbf\xbd\"}</script>"));
}

TEST(Page, HoldsTheTextsOfResponsesAsTheyAre) {
  const Subject subjects[] = {subject_of({example("escape", {.steps = 3, .planned = 3})})};
  const Json response =
      report_data(subjects, {.responses = 6}).at("subjects").at(0).at("responses").at(0);
  EXPECT_EQ(response.at("answer").at(1).at(0), "extracted");
  EXPECT_TRUE(holds(response.at("answer").at(1).at(1), "1 < 2<script>"));
  EXPECT_FALSE(holds(html_report(subjects, {.responses = 6}), "1 < 2<script>"));
}

TEST(Report, ChoosesCorrectAndIncorrectResponsesOfAStepFromDifferentGroups) {
  const analyze::Run run = load_run(example("choose"));
  const auto chosen = responses_of_step(run, 5, 6);
  ASSERT_EQ(chosen.size(), 6U);
  std::set<std::int64_t> groups;
  for (const std::size_t i : chosen) {
    EXPECT_TRUE(run.samples.is_training(i));
    EXPECT_EQ(run.samples.step[i], 5);
    groups.insert(run.trajectories->samples()[i].key.group);
  }
  EXPECT_EQ(groups.size(), 6U);
  EXPECT_NE(run.samples.verdict[chosen[2]] == 0, run.samples.verdict[chosen[3]] == 0);
  EXPECT_TRUE(responses_of_step(run, 13, 6).empty());
}

std::map<std::int64_t, int> shown_by_step(const analyze::Run& run, std::size_t most) {
  std::map<std::int64_t, int> count;
  for (const Json& one : shown_responses(run, decoder_of(run), 3, most)) {
    ++count[one.at("step").get<std::int64_t>()];
  }
  return count;
}

TEST(Report, HoldsResponsesOfEveryStepOrOfEvenlySpacedOnes) {
  const analyze::Run run = load_run(example("steps"));
  const auto all = shown_by_step(run, 400);
  EXPECT_EQ(all.size(), 12U);
  for (const auto& [step, count] : all) EXPECT_EQ(count, 3) << step;
  const auto few = shown_by_step(run, 4);
  EXPECT_EQ(few, (std::map<std::int64_t, int>{{1, 3}, {4, 1}, {7, 1}, {10, 1}, {12, 3}}));
}

TEST(Report, KnowsTheTokensAndHoursBehindEachStep) {
  const fs::path run = example("progress-axes", {.steps = 10, .planned = 10});
  const Subject one[] = {subject_of({run})};
  const Json progress = report_data(one, {}).at("subjects").at(0).at("progress");
  double tokens = 0, seconds = 0;
  std::size_t i = 0;
  for (const MetricsRow& row : read_metrics(run / "metrics.jsonl")) {
    tokens += row.value_or_zero("response_tokens");
    seconds += row.value_or_zero("step_seconds");
    EXPECT_EQ(progress.at("tokens").at(i).at(0), row.step);
    EXPECT_EQ(progress.at("tokens").at(i).at(1).get<double>(), tokens) << row.step;
    EXPECT_NEAR(progress.at("hours").at(i++).at(1).get<double>(), seconds / 3600, 1e-9) << row.step;
  }
  EXPECT_EQ(i, 11U);
  EXPECT_GT(tokens, 10'000);
}

TEST(Report, OffersNoHoursIfAStepLacksItsTimeAndCountsLoggedTokensWithoutMetrics) {
  const fs::path with = example("axes-with"),
                 without = example("axes-without", {.steps = 12, .planned = 12, .metrics = false});
  const auto progress = [](const fs::path& run) {
    const Subject one[] = {subject_of({run})};
    return report_data(one, {}).at("subjects").at(0).at("progress");
  };
  EXPECT_FALSE(progress(with).at("hours").empty());
  EXPECT_TRUE(progress(without).at("hours").empty());
  EXPECT_EQ(progress(without).at("tokens"), progress(with).at("tokens"));
}

Json starts_shown(const fs::path& run) {
  const Subject one[] = {subject_of({run})};
  return report_data(one, {}).at("subjects").at(0).at("runs").at(0).at("starts");
}

TEST(Starts, AreShownWithHostBuildDurationAndExitStatus) {
  const fs::path run = example("starts");
  record_start(run, "lie_cluster train", 12);
  record_end(run, 75);
  record_start(run, "lie_cluster train", 8);
  const Json starts = starts_shown(run);
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[0].at("host"), host_name());
  EXPECT_EQ(starts[0].at("build_id"), build_id());
  EXPECT_EQ(starts[0].at("ranks"), 12);
  EXPECT_EQ(starts[0].at("status"), 75);
  EXPECT_GE(starts[0].at("seconds").get<double>(), 0);
  EXPECT_EQ(starts[1].at("ranks"), 8);
  EXPECT_TRUE(starts[1].at("status").is_null()) << "a killed job has no exit status";
  EXPECT_TRUE(starts[1].at("seconds").is_null());
}

TEST(Starts, OfAnOlderBuildAreNotInvented) {
  const Json starts = starts_shown(example("no-starts"));
  ASSERT_EQ(starts.size(), 1U);
  for (const char* key : {"host", "ranks", "status", "command"}) {
    EXPECT_TRUE(starts[0].at(key).is_null()) << key;
  }
  EXPECT_EQ(starts[0].at("begun"), "2027-01-15 08:00 UTC");
}

TEST(Starts, ADamagedOrIncompleteLineLosesOnlyItself) {
  const fs::path run = example("starts-damaged", {.steps = 3, .planned = 3, .starts = true});
  record_start(run, "lie_cluster train", 2);
  std::string text = read_file(run / kStartsFile);
  fs::resize_file(run / kStartsFile, text.size() - 5);
  EXPECT_TRUE(read_starts(run).damage.empty());
  EXPECT_EQ(read_starts(run).starts.size(), 1U);
  record_start(run, "lie_cluster train", 3);
  const StartsFile after = read_starts(run);
  ASSERT_EQ(after.starts.size(), 2U);
  EXPECT_EQ(after.starts[1].ranks, 3);
  EXPECT_EQ(after.damage.size(), 1U);
  EXPECT_TRUE(holds(lie_analyze("--check " + run.string()).output, "starts.jsonl:3: the line"));
}

TEST(Starts, WarningsOfARunAreNotesOfItsTable) {
  const fs::path run = example("starts-warned", {.steps = 3, .planned = 3, .starts = true});
  record_warning(run, "optimizer.learning_rate is 0: nothing is learned");
  record_end(run, 0);
  record_start(run, "lie_cluster train", 1);  // a resume warns again
  record_warning(run, "optimizer.learning_rate is 0: nothing is learned");
  const std::string table = lie_analyze("--no-html " + run.string()).output;
  const std::string note = "note: warned: optimizer.learning_rate is 0: nothing is learned";
  EXPECT_TRUE(holds(table, note)) << table;
  EXPECT_EQ(table.find(note), table.rfind(note));
  EXPECT_EQ(read_starts(run).starts.size(), 2U);
}

TEST(Watch, WritesAReportThatRefreshesItselfUntilTheRunEnds) {
  const fs::path run = example("watch", {.steps = 3, .planned = 40, .checkpoint = false});
  std::optional<WriterLock> writer(std::in_place, run, "lie_cluster train");
  EXPECT_TRUE(holds(load_run(run).state, "step 3 of 40: in progress"));
  std::thread ends([&] {
    while (!fs::exists(run / "report.html")) std::this_thread::yield();
    const Json data = shown_data(run / "report.html");
    EXPECT_EQ(data.at("refresh"), 1);
    EXPECT_EQ(data.at("subjects").at(0).at("runs").at(0).at("is_live"), true);
    writer.reset();
  });
  const Outcome outcome = lie_analyze("--watch 1 " + run.string());
  ends.join();
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "written again every 1 s")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "step 3 of 40: stopped and resumable")) << outcome.output;
  EXPECT_TRUE(shown_data(run / "report.html").at("refresh").is_null());
}

TEST(Tail, PrintsTheLastCompleteStepOfARunInProgress) {
  const fs::path run = example("tail", {.steps = 3, .planned = 40, .checkpoint = false});
  const Outcome outcome = lie_analyze("tail --samples 2 " + run.string());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "step 3 of 40")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "== step 3, problem ")) << outcome.output;
  EXPECT_FALSE(holds(outcome.output, "== step 2,")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "-- gold 2, extracted 1 < 2<script>")) << outcome.output;
  std::size_t responses = 0;
  for (std::size_t at = 0; (at = outcome.output.find("== step", at)) != std::string::npos; ++at)
    ++responses;
  EXPECT_EQ(responses, 2U);
}

TEST(Tail, SaysThatNoStepIsCompleteYet) {
  const fs::path run = fresh("tail-begun");
  fs::create_directories(run);
  write_file_atomically(run / "config.yaml", "run:\n  steps: 40\n");
  const Outcome outcome = lie_analyze("tail " + run.string());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.output, "no training step is logged in full yet")) << outcome.output;
}

TEST(Tail, SaysThatAnEvaluationHasNoTrainingStep) {
  const fs::path run = fresh("tail-evaluation");
  fs::create_directories(run);
  write_file_atomically(run / "config.yaml", "evaluation:\n  ks: [1, 2]\n");
  const Outcome outcome = lie_analyze("tail " + run.string());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.output, "lie_cluster eval wrote it")) << outcome.output;
}

TEST(Curves, SeveralSeedsHaveMeanAndInterval) {
  const Subject subject = subject_of({example("seed-1", {.steps = 3, .planned = 3, .seed = 1}),
                                      example("seed-2", {.steps = 3, .planned = 3, .seed = 2}),
                                      example("seed-3", {.steps = 3, .planned = 3, .seed = 3})});
  const auto curve = subject_curve(subject, "accuracy");
  ASSERT_EQ(curve.size(), 3U);
  double sum = 0;
  for (const analyze::Run& run : subject.runs) sum += curve_of(run, "accuracy").at(2);
  EXPECT_NEAR(curve[1].value.value, sum / 3, 1e-12);
  EXPECT_LT(curve[1].value.low, curve[1].value.value);
}

TEST(Curves, IntervalOfOneRunCountsPromptsAndOnlyThoseOfTheMean) {
  // Step 1: 64 prompts of 16 responses, every other prompt solved. Then 64 dropped groups.
  Subject subject{"run", std::vector<analyze::Run>(1)};
  SampleColumns& samples = subject.runs[0].samples;
  for (int i = 0; i < 2 * 64 * 16; ++i) {
    const int prompt = i / 16;
    samples.step.push_back(1);
    samples.prompt.push_back(prompt);
    samples.purpose.push_back(0);
    samples.verdict.push_back(prompt < 64 && prompt % 2 == 0 ? 0 : 1);
    samples.mini_batch.push_back(prompt < 64 ? 0 : -1);
  }
  subject.runs[0].curves = {{"accuracy", {{1, 0.5}}}, {"generated_accuracy", {{1, 0.25}}}};
  const Estimate trained = subject_curve(subject, "accuracy")[0].value;
  EXPECT_NEAR(trained.high - 0.5, 0.122, 2e-3);  // over responses: 0.031
  EXPECT_NEAR(0.5 - trained.low, 0.122, 2e-3);
  const Estimate start = start_and_end(subject, "accuracy").start;
  EXPECT_EQ(start.low, trained.low);
  const Estimate generated = subject_curve(subject, "generated_accuracy")[0].value;
  EXPECT_NEAR((generated.high - generated.low) / 2, 0.075, 3e-3);
}

TEST(Curves, EqualRowsOfAnEvaluationAreOnePrompt) {
  const ExampleRun shape{.steps = 0, .planned = 10, .groups = 16, .samples = 1, .equal_rows = 4};
  const Subject subject = subject_of({example("equal-rows", shape)});
  const SampleColumns& samples = subject.runs.front().samples;
  std::vector<PromptShare> prompts(4);
  ASSERT_EQ(samples.size(), 16U);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples.prompt[i], samples.problem[i] / 4 * 4);
    PromptShare& prompt = prompts.at(static_cast<std::size_t>(samples.problem[i] / 4));
    prompt.weight += 1.0 / 16;
    prompt.correct += samples.verdict[i] == 0 ? 1.0 / 16 : 0;
    ++prompt.responses;
  }
  const Estimate expected = share_over_prompts(prompts);
  const Estimate found = subject_curve(subject, "eval_accuracy").at(0).value;
  EXPECT_NEAR(found.low, expected.low, 1e-12);
  EXPECT_NEAR(found.high, expected.high, 1e-12);
}

TEST(Curves, IntervalsOfSharesAreCutToZeroAndOne) {
  Subject subject{"seeds", std::vector<analyze::Run>(2)};
  subject.runs[0].curves = {{"accuracy", {{1, 0.1}, {2, 0.9}}}, {"grad_norm", {{1, 0.1}}}};
  subject.runs[1].curves = {{"accuracy", {{1, 0.3}, {2, 1.0}}}, {"grad_norm", {{1, 2.1}}}};
  const auto accuracy = subject_curve(subject, "accuracy");
  EXPECT_EQ(accuracy[0].value.low, 0);  // t: 0.2 - 1.27
  EXPECT_EQ(accuracy[0].value.high, 1);
  EXPECT_EQ(accuracy[1].value.high, 1);
  EXPECT_EQ(start_and_end(subject, "accuracy").end.high, 1);
  const auto norm = subject_curve(subject, "grad_norm");
  EXPECT_EQ(norm[0].value.low, 0);
  EXPECT_GT(norm[0].value.high, 10);
}

TEST(SideBySide, PairsEqualPromptsBySourceAndDropsOthers) {
  const ExampleRun shape{.steps = 10, .planned = 10};
  ExampleRun other = shape;
  other.seed = 2;
  const analyze::Run a = load_run(example("pair-a", shape)), b = load_run(example("pair-b", other));
  const analyze::Run* const runs[] = {&a, &b};
  for (const Purpose purpose : {Purpose::kTrain, Purpose::kEvaluate}) {
    const auto by_source = shared_prompts(runs, purpose, 4);
    ASSERT_EQ(by_source.size(), 1U);
    const auto& prompts = by_source.at("count_pairs");
    EXPECT_EQ(prompts.size(), 4U);
    for (const SharedPrompt& prompt : prompts) {
      EXPECT_EQ(a.samples.problem[prompt[0]], b.samples.problem[prompt[1]]);
      EXPECT_EQ(a.samples.is_training(prompt[0]), purpose == Purpose::kTrain);
      EXPECT_EQ(b.samples.step[prompt[1]], b.samples.problem[prompt[1]] / shape.groups);
    }
  }
  const analyze::Run longer = load_run(example("pair-c", {.steps = 20, .planned = 20}));
  const analyze::Run* const apart[] = {&a, &longer};  // last evaluated at step 20, other rows
  EXPECT_TRUE(shared_prompts(apart, Purpose::kEvaluate, 4).empty());
}

constexpr const char* kTable =
    R"({"rows": [{"data_source": "amc <23>", "problems": 40, "samples": 320,
  "average": {"value": 0.5, "low": 0.25, "high": 0.75}, "majority": {},
  "pass": {"16": {"value": 0.9, "low": 0.8, "high": 1}, "8": {"value": 0.75, "low": 0.6, "high": 0.8}},
  "budgets": {"4096": {"value": 0.4, "low": 0.3, "high": 0.5}}}]})";

TEST(Evaluation, ShowsTheRowsOfTheTable) {
  const fs::path directory = example("evaluation");
  write_file_atomically(directory / "table.json", kTable);
  const Subject one[] = {subject_of({directory})};
  EXPECT_EQ(report_data(one, {.responses = 0}).at("subjects").at(0).at("evaluation"),
            Json::parse(kTable).at("rows"));
}

TEST(Evaluation, PassesOnTheConfidenceOfTheIntervals) {
  const fs::path directory = example("evaluation-confidence");
  Json table = Json::parse(kTable);
  table["confidence"] = 0.9;
  write_file_atomically(directory / "table.json", table.dump());
  const Subject both[] = {subject_of({directory}), subject_of({example("no-evaluation")})};
  const Json subjects = report_data(both, {.responses = 0}).at("subjects");
  EXPECT_EQ(subjects.at(0).at("evaluation_confidence"), 0.9);
  EXPECT_TRUE(subjects.at(1).at("evaluation_confidence").is_null());
}

TEST(Evaluation, OfSeveralRunsIsTheMeanOverThemBySource) {
  const fs::path one = example("evaluation-1"), two = example("evaluation-2");
  Json table = Json::parse(kTable);
  write_file_atomically(one / "table.json", table.dump());
  Json& row = table["rows"][0];
  row["average"]["value"] = 0.75;
  row["pass"].erase("16");
  table["rows"].push_back(row);
  table["rows"][1]["data_source"] = "only here";
  write_file_atomically(two / "table.json", table.dump());
  const Subject group[] = {subject_of({one, two})};
  const Json shown = report_data(group, {.responses = 0}).at("subjects").at(0);
  ASSERT_EQ(shown.at("evaluation").size(), 1U) << "sources of all runs";
  const Json& mean = shown.at("evaluation").at(0);
  EXPECT_EQ(mean.at("average").at("value"), 0.625);
  EXPECT_EQ(mean.at("average").at("high"), 1) << "t: 0.625 + 1.59";
  EXPECT_EQ(mean.at("pass").size(), 1U);
  EXPECT_EQ(mean.at("pass").at("8").at("value"), 0.75);
  EXPECT_EQ(shown.at("evaluation_confidence"), 0.95);
}

TEST(Evaluation, RejectsATableOfAnotherKind) {
  const fs::path directory = example("no-table");
  write_file_atomically(directory / "table.json", R"({"rows": [{"data_source": 3}]})");
  const Outcome outcome = lie_analyze(directory.string());
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.output, "table.json: not a table of lie_cluster eval"))
      << outcome.output;
}

TEST(LieAnalyze, ReportsAFineTuningRun) {
  const fs::path run = fresh("sft");
  fs::create_directories(run);
  write_file_atomically(run / "config.yaml",
                        "directory: x\nsft:\n  steps: 3\n  data: rows.jsonl\n");
  write_file_atomically(
      run / "metrics.jsonl",
      "{\"step\":1,\"loss\":2.5,\"validation_loss\":2.25}\n{\"step\":2,\"loss\":1.5}\n");
  const Outcome outcome = lie_analyze(run.string());
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(holds(outcome.output, "step 2 of 3")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, "validation loss")) << outcome.output;
  EXPECT_TRUE(holds(outcome.output, fmt::format("  {:<50} {}  {}\n", "loss", "2.500", "1.500")))
      << outcome.output;
  const Json shown = shown_data(run / "report.html").at("subjects").at(0);
  EXPECT_EQ(shown.at("curves").at("loss").dump(), "[[1,2.5],[2,1.5]]");
  EXPECT_EQ(shown.at("runs").at(0).at("details"), Json::array({"data rows.jsonl"}));
}

}  // namespace
}  // namespace lie::analyze
