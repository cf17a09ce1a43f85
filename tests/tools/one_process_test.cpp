// Whole steps in one process, without MPI: actor, reward worker, coordinator, learner and recorders
// over in-process queues, with the embedded model.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/comm/role_plan.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/metrics_log.h"
#include "common/io/tensorboard.h"
#include "common/trajectory/digest.h"
#include "common/trajectory/run_reader.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "learner/record/tensorboard_tag.h"
#include "model/tokenizer/tokenizer.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"
#include "tools/run/roles/runtime.h"
#include "tools/run/start/prepare_run.h"

namespace lie {
namespace {

RoleLayout one_rank() { return plan_roles({}, {{"here", {0}}}); }

class OneProcess : public testing::Test {
 protected:
  OneProcess() {
    const fs::path root = source_directory();
    config_ = load_train_config(root / "tests/tools/small.yaml", {});
    for (std::string* path :
         {&config_.model.path, &config_.data.train_file[0], &config_.data.evaluation_file[0]}) {
      *path = (root / *path).string();
    }
    config_.run.directory = (directory_.path() / "run").string();
    config_.run.steps = 2;
    config_.rollout.sampling.max_response_tokens = 12;
    config_.rollout.evaluation.max_response_tokens = 12;
    config_.tickets = {.prompts_per_step = 2, .samples_per_prompt = 3};
    config_.evaluation = {.every = 2, .prompts = 2, .samples_per_prompt = 1};
  }

  /// Runs until `signal` stops it. Returns whether it did.
  bool run(const std::function<int()>& signal = [] { return 0; }) {
    EarlyStop stop(signal);
    mpi::Environment environment;
    Job job(environment);
    PreparedRun prepared = prepare_run(job, config_, "test");
    run_in_one_process(config_, prepared.start, std::move(prepared.inputs.prompts), one_rank(),
                       stop);
    return !stop.reason().empty();
  }

  std::vector<Json> metrics() const {
    std::vector<Json> rows;
    std::ifstream file(fs::path(config_.run.directory) / "metrics.jsonl");
    for (std::string line; std::getline(file, line);) rows.push_back(Json::parse(line));
    return rows;
  }

  TemporaryDirectory directory_;
  TrainConfig config_;
};

TEST_F(OneProcess, ARunLeavesMetricsTrajectoriesAndACheckpoint) {
  run();
  const std::vector<Json> rows = metrics();
  ASSERT_EQ(rows.size(), 3u);  // steps 0 to 2
  EXPECT_TRUE(rows[0].contains("eval_accuracy"));
  EXPECT_FALSE(rows[0].contains("loss"));
  EXPECT_FALSE(rows[1].contains("eval_accuracy"));
  EXPECT_TRUE(rows[2].contains("eval_accuracy"));
  for (const char* name : {"first_minibatch_ratio_max_deviation", "log_prob_difference_mean",
                           "log_prob_difference_sequence_max"}) {
    EXPECT_EQ(rows[1].at(name), 0.0) << name;  // invariant E5
  }
  const RunReader trajectories(fs::path(config_.run.directory) / "trajectories");
  EXPECT_EQ(trajectories.samples().size(), 2u + 6 + 6 + 2);
  const auto checkpoint = latest_checkpoint(fs::path(config_.run.directory) / "checkpoints");
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(load_trainer_state(*checkpoint).step, 2);
}

TEST_F(OneProcess, ARunResumedToMoreStepsEqualsALongerRun) {
  run();
  config_.run.steps = 3;
  config_.trainer.max_micro_batch_tokens = 40;
  run();
  const Json resumed = metrics().back();
  config_.run.directory = (directory_.path() / "longer").string();
  config_.evaluation.every = 3;  // step 2 was evaluated as the last step; no response depends on it
  run();
  const Json longer = metrics().back();
  EXPECT_EQ(resumed.at("step"), 3);
  for (const char* name : {"loss", "grad_norm", "accuracy", "c_global_run", "eval_accuracy"}) {
    EXPECT_EQ(resumed.at(name), longer.at(name)) << name;
  }
}

TEST_F(OneProcess, TensorBoardGroupsEveryMetricAlsoAfterAnOlderBuild) {
  run();
  const fs::path run_directory = config_.run.directory, events = run_directory / "tensorboard";
  fs::remove_all(events);
  EventWriter(events).write(0.5, 1, std::vector<Scalar>{{"accuracy", 1.0}});  // as before groups
  config_.run.steps = 3;
  run();
  std::string expected;
  for (const MetricsRow& row : read_metrics(run_directory / "metrics.jsonl")) {
    std::vector<Scalar> scalars;
    for (const auto& [name, value] : row.values) scalars.push_back({tensorboard_tag(name), value});
    for (const Scalar& s : scalars) EXPECT_FALSE(s.tag.starts_with(kFurtherNumbers)) << s.tag;
    expected += scalars_record(row.wall_time, row.step, scalars);
  }
  std::vector<std::string> files = list_directory(events);
  std::erase(files, "samples");
  ASSERT_EQ(files.size(), 1u);
  EXPECT_TRUE(read_file(events / files[0]).ends_with(expected));
}

TEST_F(OneProcess, TensorBoardHasTextsOfEvaluationsAndLengthsOfAllStarts) {
  config_.evaluation.every = 1;
  EXPECT_TRUE(run([&] { return metrics().size() == 2 ? SIGTERM : 0; }));  // steps 0 and 1
  run();
  const fs::path run_directory = config_.run.directory;
  const fs::path samples = run_directory / "tensorboard" / "samples";
  std::string events;  // of one file, if both starts fall into the same second
  for (const std::string& file : list_directory(samples)) {
    EXPECT_EQ(event_file_fault(samples / file), "");
    events += read_file(samples / file);
  }

  const RunReader log(run_directory / "trajectories");
  const auto steps = log.column(schema::sample::kStep);
  const auto purposes = log.column(schema::sample::kPurpose);
  const Tokenizer tokenizer = Tokenizer::load(config_.model.path);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (purposes[i] == 0) continue;
    const std::string text = tokenizer.decode(log.response_ids(i), true);
    EXPECT_NE(events.find("response\n\n    " + text.substr(0, text.find('\n'))), std::string::npos)
        << steps[i];
  }
}

TEST_F(OneProcess, ASignalStopsARunAfterItsStepAndItResumesBitIdentically) {
  config_.checkpoint.every = 0;
  const fs::path whole = directory_.path() / "whole";
  config_.run.directory = whole.string();
  EXPECT_FALSE(run());
  config_.run.directory = (directory_.path() / "stopped").string();
  EXPECT_TRUE(run([&] { return metrics().size() == 2 ? SIGTERM : 0; }));  // steps 0 and 1
  const auto checkpoints = fs::path(config_.run.directory) / "checkpoints";
  EXPECT_EQ(latest_checkpoint(checkpoints), checkpoint_path(checkpoints, 1));
  EXPECT_EQ(metrics().size(), 2u) << "a stop is no reason to evaluate";
  EXPECT_FALSE(run());
  const auto digest = [](const fs::path& run) {
    return trajectories_digest(RunReader(run / "trajectories"));
  };
  EXPECT_EQ(digest(config_.run.directory), digest(whole));
}

TEST_F(OneProcess, ARunWithoutCheckpointsReplaysItsLogAndGeneratesNothing) {
  run();
  const fs::path directory = config_.run.directory;
  const auto rows = metrics();
  const auto weights = [&] {
    return read_file(*latest_checkpoint(directory / "checkpoints") / "model.safetensors");
  };
  const std::string first = weights();
  const auto files = list_directory(directory / "trajectories");
  fs::remove_all(directory / "checkpoints");
  run();
  EXPECT_EQ(weights(), first);
  EXPECT_EQ(list_directory(directory / "trajectories"), files) << "something was generated";
  EXPECT_EQ(metrics(), rows) << "including the times of the first run";
  fs::remove_all(directory / "checkpoints");
  fs::remove(directory / "metrics.jsonl");
  run();
  EXPECT_EQ(metrics().size(), rows.size());
  for (const char* name : {"loss", "accuracy", "c_global_run", "eval_accuracy"}) {
    EXPECT_EQ(metrics().back().at(name), rows.back().at(name)) << name;
  }
}

TEST_F(OneProcess, ActorsReceiveTheSameRoundedWeightsAfterAResume) {
  const auto digest = [&] {
    return trajectories_digest(RunReader(fs::path(config_.run.directory) / "trajectories"));
  };
  config_.evaluation.every = 0;
  config_.weight_sync.weights = DType::kBFloat16;
  run();
  EXPECT_GT(metrics().back().at("first_minibatch_ratio_max_deviation"), 0.0);
  EXPECT_GT(metrics().back().at("log_prob_difference_sequence_max"), 0.0);
  config_.run.steps = 3;
  run();
  const std::string resumed = digest();
  for (const auto weights : {DType::kBFloat16, DType::kFloat32}) {
    config_.weight_sync.weights = weights;
    config_.run.directory = directory_.path() / (weights == DType::kBFloat16 ? "same" : "other");
    run();
    EXPECT_EQ(digest() == resumed, weights == DType::kBFloat16);
  }
}

TEST_F(OneProcess, AnAsynchronousRunIsRepeatedFromItsSchedule) {
  config_.run.steps = 4;
  config_.tickets.max_staleness = 2;
  config_.run.schedule = ScheduleMode::kRecorded;
  run();
  double stalest = 0;
  for (const Json& row : metrics()) stalest = std::max(stalest, row.value("staleness_max", 0.0));
  EXPECT_GE(stalest, 1) << "slots are free while the last responses of a step are generated";
  EXPECT_LE(stalest, 2);
  const auto digest = [&] {
    return trajectories_digest(RunReader(fs::path(config_.run.directory) / "trajectories"));
  };
  const std::string recorded = digest();
  config_.run.follow_schedule = fs::path(config_.run.directory) / "schedule.jsonl";
  config_.run.directory = (directory_.path() / "again").string();
  config_.rollout.slots = 2;
  EXPECT_TRUE(run([&] { return metrics().size() == 3 ? SIGTERM : 0; }));  // steps 0 to 2
  EXPECT_FALSE(run());
  EXPECT_EQ(digest(), recorded) << "the resumed run must also restore old weights";
}

TEST_F(OneProcess, AStopLeavesWaitingResponsesToTheNextStart) {
  config_.run.steps = 5;
  config_.tickets.max_staleness = 2;
  config_.rollout.in_flight_weights = InFlightWeights::kRecomputeCache;
  config_.run.schedule = ScheduleMode::kRecorded;
  run();
  const auto digest = [&] {
    return trajectories_digest(RunReader(fs::path(config_.run.directory) / "trajectories"));
  };
  const std::string recorded = digest();
  config_.run.follow_schedule = fs::path(config_.run.directory) / "schedule.jsonl";
  config_.run.directory = (directory_.path() / "again").string();
  config_.rollout.slots = 40;
  for (const std::size_t rows : {1, 2, 3, 4}) {
    EXPECT_TRUE(run([&] { return metrics().size() == rows ? SIGTERM : 0; })) << rows;
  }
  EXPECT_FALSE(run());
  EXPECT_EQ(digest(), recorded);
}

TEST_F(OneProcess, TheBestCheckpointIsKeptAcrossResumes) {
  config_.evaluation = {.every = 1, .prompts = 4, .samples_per_prompt = 4};
  config_.checkpoint = {.every = 1, .keep_last = 1};
  config_.best_checkpoint.keep_best = "eval_c_context_mean";
  for (const std::int64_t steps : {3, 4, 6}) {
    config_.run.steps = steps;
    run();
  }
  std::int64_t best = 1;
  std::vector<double> values;
  for (const Json& row : metrics()) values.push_back(row.at("eval_c_context_mean"));
  for (std::int64_t step = 1; step < std::ssize(values); ++step) {
    if (values[static_cast<std::size_t>(step)] > values[static_cast<std::size_t>(best)])
      best = step;
  }
  ASSERT_LT(best, 6) << "a best checkpoint that is the last one proves nothing";
  const auto checkpoints = fs::path(config_.run.directory) / "checkpoints";
  EXPECT_EQ(list_directory(checkpoints),
            (std::vector<std::string>{checkpoint_path("", best), checkpoint_path("", 6)}));
}

TEST_F(OneProcess, AnUnknownMetricForKeepBestFailsTheStart) {
  config_.best_checkpoint.keep_best = "eval_accuracy_source_mean";
  EXPECT_NE(error_of([&] { run(); }).find("no evaluation gives eval_accuracy_source_mean"),
            std::string::npos)
      << "there is only one source";
  EXPECT_FALSE(fs::exists(config_.run.directory));
  config_.metric_coverage.ngrams = {7};
  config_.best_checkpoint.keep_best = "eval_c_context_7_mean";
  run();
}

TEST_F(OneProcess, EachOfSeveralEvaluationFilesIsASource) {
  const std::string rows = "{\"prompt\": \"14 7 3 9 18 12 target 21:\\n\", \"gold\": \"3\"}\n";
  config_.data.evaluation_file = {directory_.write("amc.jsonl", rows + rows).string(),
                                  directory_.write("aime.jsonl", rows).string()};
  config_.best_checkpoint.keep_best = "eval_accuracy_on_aime";
  run();
  for (const char* name : {"eval_accuracy_source_mean", "eval_accuracy_on_amc",
                           "eval_accuracy_on_aime", "eval_response_length_mean_on_aime"}) {
    EXPECT_TRUE(metrics().back().contains(name)) << name;
  }
  const RunReader trajectories(fs::path(config_.run.directory) / "trajectories");
  const ProblemText last = trajectories.problem(trajectories.samples().size() - 1);
  EXPECT_EQ(last.data_source, "aime");
  EXPECT_EQ(trajectories.column(schema::sample::kProblem).back(), 2);
}

TEST_F(OneProcess, AFailingRoleEndsTheRunWithItsCause) {
  mpi::Environment environment;
  Job job(environment);
  PreparedRun prepared = prepare_run(job, config_, "test");
  config_.rollout.max_prompt_tokens = 1 << 20;  // the actor's model has fewer positions
  EarlyStop stop([] { return 0; });
  EXPECT_NE(error_of([&] {
              run_in_one_process(config_, prepared.start, std::move(prepared.inputs.prompts),
                                 one_rank(), stop);
            }).find("positions"),
            std::string::npos);
}

}  // namespace
}  // namespace lie
