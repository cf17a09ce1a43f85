// lie_replay: works on the log of a finished run. It scores the log under other settings, or learns
// from it.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "common/base/identity.h"
#include "common/comm/launcher.h"
#include "common/process/program.h"
#include "tools/arguments/help.h"
#include "tools/arguments/job_program.h"
#include "tools/arguments/moved_command.h"
#include "tools/arguments/values.h"
#include "tools/replay/commands.h"

namespace {

using Chosen = std::function<int()>;

void add_score(CLI::App& program, lie::replay::ScoreArguments& arguments, Chosen& chosen) {
  CLI::App* score = program.add_subcommand(
      "score",
      "Verify and score every logged response again. Without --set all values must be "
      "bit-identical to the logged ones: exit status 1 if they are not. With --set: a table, "
      "logged and now");
  score->add_option("RUN_DIR", arguments.run, "Run directory of lie_cluster train")->required();
  lie::add_overrides(
      *score, arguments.overrides,
      "Score under another reward.*, verifier.*, advantage.* or coverage.metric_* key: "
      "--set reward.coverage.ngram=8");
  score->add_option("--json", arguments.json, "Write the comparison, step by step, to this file")
      ->check(lie::output_file());
  score->add_option("--html", arguments.html, "Write the comparison as a page with charts")
      ->check(lie::output_file());
  score->add_flag(
      "--programs", arguments.run_programs,
      "Run reward.command and verifier.command, one of each per thread; without it their "
      "logged answers are used");
  lie::add_integer(*score, "--threads", arguments.threads,
                   "Threads of a rank; 0: the ranks share the cores", 0, 1024);
  score->callback([&] {
    chosen = [&] {
      int status = 0;
      const int failed =
          lie::run_job([&](lie::Job& job) { status = lie::replay::score_command(job, arguments); });
      return failed != 0 ? failed : status;
    };
  });
}

void add_train(CLI::App& program, lie::replay::TrainArguments& arguments, Chosen& chosen) {
  CLI::App* train = program.add_subcommand(
      "train",
      "Run the learner over the logged steps without generating a token. Without --set the weights "
      "of every checkpoint are bit-identical to the run's. Under mpirun -n N: N learners");
  train
      ->add_option("RUN_DIR", arguments.runs,
                   "Run directory of lie_cluster train; of several, the first one's settings are "
                   "used, and steps are learned by number, then by run")
      ->required();
  train->add_option("--from-checkpoint", arguments.from_checkpoint,
                    "Begin with this checkpoint of the run and the step after it");
  train->add_option("--steps", arguments.steps, "Only these logged steps: 5-10, 5-, -10 or 7");
  train
      ->add_option(
          "--groups", arguments.groups,
          "all; mixed: those with correct and incorrect responses; or positions in the step, "
          "from 0: 0-7")
      ->capture_default_str();
  train
      ->add_option("--run-directory", arguments.directory,
                   "Run directory to write; the same command resumes it")
      ->required();
  lie::add_overrides(
      *train, arguments.overrides,
      "Learn under another reward.*, verifier.*, advantage.*, policy_loss.*, update.* or "
      "optimizer.* key; --set run.steps=N ends with step N");
  train->add_flag("--programs", arguments.run_programs,
                  "Score again with reward.command and verifier.command; without it their logged "
                  "answers are used");
  lie::add_number(*train, "--warn-below", arguments.least_sample_share,
                  "Warn when the effective sample size is less than this share of a step's "
                  "responses",
                  0, 1);
  train->callback([&] {
    chosen = [&] {
      return lie::run_job([&](lie::Job& job) { lie::replay::train_command(job, arguments); });
    };
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Scores a run of LIE Cluster again from its log, or learns from the log.",
                   "lie_replay");
  lie::set_help_format(program);
  program.set_version_flag("--version", std::string(lie::build_id()));
  program.require_subcommand(1);
  Chosen chosen;
  lie::replay::ScoreArguments score;
  add_score(program, score, chosen);
  lie::replay::TrainArguments train;
  add_train(program, train, chosen);
  lie::add_moved_command(program, "export", "lie_cluster.export", "how-to/export.md");
  return lie::run_program("lie_replay",
                          [&] {
                            lie::require_command(program, argc, argv);
                            CLI11_PARSE(program, argc, argv);
                            return chosen();
                          },
                          {.reports_errors = lie::launcher::rank() == 0});
}
