#include "common/process/slurm_job.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace lie {
namespace {

/// The states of jobs without processes. PENDING means requeued and not yet restarted.
constexpr std::array kOver = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",  "FAILED",
                              "NODE_FAIL", "PENDING",   "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Returns whether `text` is a number and thus safe in a shell command.
bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 20 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

struct Answer {
  bool is_good = false;  // exit status 0
  std::string text;      // standard output and standard error
};

Answer ask_squeue(const std::string& arguments) {
  Answer answer;
  std::FILE* pipe = ::popen(("squeue " + arguments + " 2>&1").c_str(), "re");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> piece;
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe)) {
    answer.text.append(piece.data(), n);
  }
  answer.is_good = ::pclose(pipe) == 0;
  return answer;
}

bool is_over(const std::string& state) { return std::ranges::find(kOver, state) != kOver.end(); }

bool job_is_over(const std::string& id) {
  const Answer answer = ask_squeue("--noheader --states=all --format=%T --jobs=" + id);
  // Slurm does not know a job some minutes after its end.
  if (!answer.is_good) return answer.text.find("Invalid job id") != std::string::npos;
  std::istringstream states(answer.text);
  for (std::string state; states >> state;) {
    if (!is_over(state)) return false;
  }
  return true;
}

bool step_is_over(const std::string& id, const std::string& step) {
  if (!is_number(step)) return false;
  const Answer answer = ask_squeue(fmt::format("--noheader --steps={}.{}", id, step));
  return answer.is_good && answer.text.find_first_not_of(" \n") == std::string::npos;
}

}  // namespace

SlurmJob this_slurm_job() {
  const std::string restarts = variable("SLURM_RESTART_COUNT");
  return {.cluster = variable("SLURM_CLUSTER_NAME"),
          .id = variable("SLURM_JOB_ID"),
          .step = variable("SLURM_STEP_ID"),
          .restarts = is_number(restarts) ? std::stoll(restarts) : 0};
}

bool known_to_have_ended(const SlurmJob& job) {
  const SlurmJob here = this_slurm_job();
  if (!is_number(job.id) || job.cluster != here.cluster) return false;
  if (job.id == here.id && job.restarts < here.restarts) return true;
  return job_is_over(job.id) || step_is_over(job.id, job.step);
}

}  // namespace lie
