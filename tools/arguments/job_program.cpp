#include "tools/arguments/job_program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <system_error>
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

namespace {

/// Returns how an error says that memory ran out, or an empty text.
std::string shortage_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "out of memory: an allocation failed";
  }
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
    return "out of memory or processes: no further thread can be started (ulimit -v, ulimit -u)";
  }
  const std::string text = error.what();
  return text.find("out of memory") != text.npos ? text : "";
}

/// Runs a command. Adds to an error that memory ran out which settings need less.
void run_with_remedy(Job& job, const JobCommand& command) {
  try {
    command(job);
  } catch (const std::exception& error) {
    const std::string shortage = shortage_of(error);
    if (shortage.empty()) throw;
    fail(
        "{}; the lines \"memory\" of the start's summary and lie_cluster plan say what a rank "
        "needs: lower rollout.slots or rollout.cache_mebibytes (actors), "
        "update.max_micro_batch_tokens or update.activation_mebibytes (learners), start fewer "
        "ranks on the host, or raise its limit",
        shortage);
  }
}

}  // namespace

int run_job(const JobCommand& command) {
  // If the launcher died, writing to its pipe must not kill the rank before it reports and ends.
  std::signal(SIGPIPE, SIG_IGN);
  mpi::Environment environment;
  Job job(environment);
  return job.run([&] { run_with_remedy(job, command); });
}

}  // namespace lie
