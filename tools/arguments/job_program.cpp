#include "tools/arguments/job_program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <vector>

#include "common/base/error.h"
#include "common/comm/environment.h"
#include "common/config/name_hints.h"

namespace lie {

void require_command(const CLI::App& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::string word = argv[1];
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::ranges::find(names, word) != names.end()) return;
  const std::string hint = did_you_mean(word, names);
  throw CommandLineError(fmt::format("no command \"{}\"{} {} --help lists them", word,
                                     hint.empty() ? ";" : hint, program.get_name()));
}

int run_job(const JobCommand& command) {
  // If the launcher died, writing to its pipe must not kill the rank before it reports and ends.
  std::signal(SIGPIPE, SIG_IGN);
  mpi::Environment environment;
  Job job(environment);
  return job.run([&] { command(job); });
}

}  // namespace lie
