// The main program: one binary for all ranks of a job.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/build_id.h"
#include "common/comm/environment.h"
#include "common/comm/job.h"
#include "common/comm/launcher.h"
#include "common/error.h"
#include "common/nearest.h"
#include "tools/job_commands.h"
#include "tools/model_commands.h"

namespace {

/// Throws Error for a misspelt command, where the parser would only say that a command is required.
void check_command(CLI::App& program, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
  const std::string hint = lie::did_you_mean(word, names);
  lie::fail("no command \"{}\"{} lie_cluster --help lists them", word, hint.empty() ? ";" : hint);
}

/// Whether this process speaks for the job about its command line, before MPI has begun.
bool speaks_for_the_job() { return lie::launcher::rank() == 0; }

int run(const std::function<void(lie::Job&)>& command) {
  // A launcher that is gone must not keep a rank from its report, nor a job from its end.
  std::signal(SIGPIPE, SIG_IGN);
  lie::mpi::Environment environment;
  lie::Job job(environment);
  return job.run([&] { command(job); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("LIE Cluster: reinforcement learning for reasoning models under MPI.");
  program.set_version_flag("--version", std::string(lie::build_id()));
  program.require_subcommand(1);
  std::function<void(lie::Job&)> in_job;
  lie::add_job_commands(program, in_job);
  std::function<void()> without_job;
  lie::add_model_commands(program, without_job);
  try {
    if (argc > 1) check_command(program, argv[1]);
    program.parse(argc, argv);
    if (!without_job) return run(in_job);
    if (lie::launcher::ranks() > 1) {
      lie::fail("lie_cluster {} is one process: without mpirun or srun each row comes once",
                argv[1]);
    }
    without_job();
    return 0;
  } catch (const CLI::ParseError& error) {
    return speaks_for_the_job() ? program.exit(error) : error.get_exit_code();
  } catch (const std::exception& error) {  // before there was a job to end
    if (speaks_for_the_job()) std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
