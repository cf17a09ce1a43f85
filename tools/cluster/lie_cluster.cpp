// The main program: one binary for all ranks of a job.
#include <CLI/CLI.hpp>
#include <string>

#include "common/base/identity.h"
#include "common/base/error.h"
#include "common/comm/launcher.h"
#include "common/process/program.h"
#include "tools/arguments/help.h"
#include "tools/arguments/job_program.h"
#include "tools/cluster/commands.h"
#include "tools/eval/eval_command.h"
#include "tools/plan/plan_command.h"

namespace {

/// Returns whether this process reports errors of the command line for the job, before MPI is
/// initialized.
bool reports_for_job() { return lie::launcher::rank() == 0; }

void add_commands(CLI::App& program, lie::JobCommand& in_job, lie::ProcessCommand& without_job) {
  lie::add_train(program, in_job);
  lie::add_sft(program, in_job);
  lie::add_eval(program, in_job);
  lie::add_reference_lengths(program, in_job);
  lie::add_data(program, without_job);
  lie::add_init(program, without_job);
  lie::add_tokenize(program, without_job);
  lie::add_score(program, without_job);
  lie::add_generate(program, without_job);
  lie::add_plan(program, without_job);
}

/// Returns the exit status.
int run(int argc, char** argv) {
  CLI::App program("LIE Cluster: reinforcement learning for reasoning models under MPI.",
                   "lie_cluster");
  lie::set_help_format(program);
  program.set_version_flag("--version", std::string(lie::build_id()));
  program.require_subcommand(1);
  lie::JobCommand in_job;
  lie::ProcessCommand without_job;
  add_commands(program, in_job, without_job);
  try {
    lie::require_command(program, argc, argv);
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return reports_for_job() ? program.exit(error) : error.get_exit_code();
  }
  if (!without_job) return lie::run_job(in_job);
  if (lie::launcher::ranks() > 1) {
    lie::fail("lie_cluster {} runs in one process: start it without mpirun or srun", argv[1]);
  }
  without_job();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return lie::run_program("error", [&] { return run(argc, argv); },
                          {.reports_errors = reports_for_job()});
}
