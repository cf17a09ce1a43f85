// A job of several ranks that ends in the way that its argument names. Tests run it under mpirun
// and check its output.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <vector>

#include <mpi.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/comm/channel.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/host_cpus.h"
#include "common/io/descriptor.h"
#include "common/io/file.h"
#include "common/process/stop_signals.h"

namespace lie {
namespace {

void compute(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Waits until all ranks have called it.
void meet(Job& job) {
  double one = 1;
  world_collective(job)->all_reduce_sum(std::span(&one, 1));
}

RolloutGroup large_rollout() {
  RolloutGroup rollout;
  rollout.prompt_ids.assign(5'000'000, 1);  // 20 MB, so that sending takes a while
  return rollout;
}

void wait_for_a_message(Job& job) { MpiSource<RolloutGroup>(job, Tag::kRollouts, 1).receive(); }

void all_reduce_for_ever(Job& job) {
  const auto world = world_collective(job);
  std::vector<float> values(3'000'000, 1.0f);
  for (;;) world->all_reduce_sum(std::span(values));
}

[[noreturn]] void fail_as_actor(Job& job) {
  job.set_role("actor");
  job.set_activity("generating for step 12");
  fail("the model broke");
}

/// The last rank fails while the others wait for messages.
void while_waiting(Job& job) {
  if (job.rank() == job.size() - 1) fail_as_actor(job);
  wait_for_a_message(job);
}

/// Rank 1 fails while the others are in a collective, some of them in the middle of one.
void in_a_collective(Job& job) {
  if (job.rank() == 1) {
    const auto world = world_collective(job);
    std::vector<float> values(3'000'000, 1.0f);
    for (int i = 0; i < 3; ++i) world->all_reduce_sum(std::span(values));
    fail_as_actor(job);
  }
  all_reduce_for_ever(job);
}

/// Rank 1 fails while large messages are in flight, to it and between the others.
void with_messages_in_flight(Job& job) {
  MpiSink<RolloutGroup> to_next(job, Tag::kRollouts, {(job.rank() + 1) % job.size()});
  MpiSource<RolloutGroup> from_before(job, Tag::kRollouts, 1);
  for (int i = 0; i < 3; ++i) to_next.send(large_rollout());
  if (job.rank() == 1) fail_as_actor(job);
  while (from_before.receive()) to_next.send(large_rollout());
}

void two_at_once(Job& job) {
  // Unlike meet(), MPI_Barrier does not poll progress, so a late rank is not yet notified of the
  // other's failure.
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.rank() % 2 == 1) fail_as_actor(job);
  wait_for_a_message(job);
}

/// Rank 0 is computing when rank 1 fails. Then it waits for a message.
void while_another_computes(Job& job, double seconds) {
  if (job.rank() == 1) fail_as_actor(job);
  if (job.rank() == 0) compute(seconds);
  wait_for_a_message(job);
}

/// The others have finished their work when the last rank fails.
void after_the_others_are_done(Job& job) {
  if (job.rank() != job.size() - 1) return;
  compute(0.3);
  fail_as_actor(job);
}

/// All ranks finish, and rank 0 announces that work is left.
void stopped(Job& job) {
  if (job.rank() == 0) job.set_stopped();
}

/// The last rank receives a signal. Rank 0 is notified while it waits, and stops while the others
/// still wait.
void interrupted(Job& job) {
  note_stop_signals();
  if (job.rank() == job.size() - 1) std::raise(SIGUSR1);
  if (job.rank() > 0) wait_for_a_message(job);
  while (job.stop_signal() == 0) job.poll_progress();
  throw JobStopped("stopped by " + signal_name(job.stop_signal()));
}

/// A rank fails while another stops.
void failed_during_a_stop(Job& job) {
  stopped(job);
  if (job.rank() == 1) fail_as_actor(job);
}

/// The second stop signal ends the process immediately.
void signaled_twice(int first, int second) {
  note_stop_signals();
  std::raise(first);
  std::printf("noted %s\n", signal_name(noted_stop_signal()).c_str());
  std::fflush(stdout);
  std::raise(second);
}

struct OutOfMemory : std::bad_alloc {
  explicit OutOfMemory(const char*) {}
};

/// The last rank ends a start with an error of the kind `Failure`.
template <typename Failure>
void start_fails_by(Job& job) {
  job.begin_start();
  if (job.rank() == job.size() - 1) throw Failure("the data is bad");
  wait_for_a_message(job);
}

/// The last rank fails after the start.
void fails_after_the_start(Job& job) {
  job.begin_start();
  job.end_start();
  if (job.rank() == job.size() - 1) fail("the data is bad");
  wait_for_a_message(job);
}

void print_pid(Job& job) {
  std::printf("pid %d\n", static_cast<int>(getpid()));
  std::fflush(stdout);
  meet(job);
}

void die(Job& job) {
  job.set_role("learner");
  job.set_activity("updating in step 7");
  compute(0.5);  // gives the others time to receive role and activity
  std::raise(SIGKILL);
}

/// A rank is killed while the others wait. mpirun's SIGTERM to the others is noted, as in training.
void killed(Job& job, int rank) {
  note_stop_signals();
  print_pid(job);
  if (job.rank() == rank) die(job);
  all_reduce_for_ever(job);
}

/// A rank is killed while no other rank calls MPI.
void killed_during_computations(Job& job) {
  note_stop_signals();
  print_pid(job);
  if (job.rank() == 1) die(job);
  compute(60);
}

/// A rank is suspended for some seconds while the others wait for it.
void paused(Job& job) {
  meet(job);
  const std::string resume = "(sleep 4; kill -CONT " + std::to_string(getpid()) + ") &";
  if (job.rank() == 1 && std::system(resume.c_str()) == 0) std::raise(SIGSTOP);
  meet(job);
}

/// mpirun is killed while the ranks wait.
void launcher_killed(Job& job) {
  print_pid(job);
  if (job.rank() == 0) {
    compute(1);  // gives mpirun time to forward the output
    kill(getppid(), SIGKILL);
  }
  wait_for_a_message(job);
}

/// Returns the TCP port at which this process listens, or 0.
int listening_port() {
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    int listens = 0;
    socklen_t size = sizeof listens;
    sockaddr_in6 address = {};
    socklen_t length = sizeof address;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
      continue;
    }
    if (address.sin6_family == AF_INET6 || address.sin6_family == AF_INET) {
      return ntohs(address.sin6_port);  // at the same place in an IPv4 address
    }
  }
  return 0;
}

std::int64_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// Opens connections on which nothing is ever sent.
std::vector<Descriptor> idle_connections(int port, int count) {
  std::vector<Descriptor> connections;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  for (int i = 0; i < count; ++i) {
    Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
    if (::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      fail("connection {} to port {} failed", i, port);
    }
    connections.push_back(std::move(socket));
  }
  return connections;
}

/// Rank 1 opens more connections to the port of rank 0 than rank 0 may have open files. Rank 0 can
/// still open a file after it has accepted as many of them as it will.
void strangers(Job& job) {
  const std::int64_t before = open_descriptors();
  const rlimit limit = {static_cast<rlim_t>(before) + 120, static_cast<rlim_t>(before) + 120};
  if (job.rank() == 0 && ::setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("cannot set the limit");
  double port = job.rank() == 0 ? listening_port() : 0;
  world_collective(job)->all_reduce_sum(std::span(&port, 1));
  std::vector<Descriptor> connections;
  if (job.rank() == 1) connections = idle_connections(static_cast<int>(port), 300);
  while (job.rank() == 0 && open_descriptors() < before + 60) job.poll_progress();
  for (int i = 0; i < 100; ++i) meet(job);
  if (job.rank() == 0) read_file("/proc/self/status");
  meet(job);
}

// These do not fail. environment_test.cpp runs them.

void print_cpus(Job&) {
  const std::size_t bound = usable_cpus().size();
  widen_binding();
  std::printf("bound to %zu, widened to %zu\n", bound, usable_cpus().size());
  std::fflush(stdout);
}

void print_mpi(Job&) {
  int started = 0;
  MPI_Initialized(&started);
  std::printf("MPI %s\n", started != 0 ? "initialized" : "not initialized");
  std::fflush(stdout);
}

int run(const std::string& ending) {
  const std::map<std::string, std::function<void(Job&)>> endings = {
      {"succeed", [](Job&) {}},
      {"while_waiting", while_waiting},
      {"in_a_collective", in_a_collective},
      {"with_messages_in_flight", with_messages_in_flight},
      {"two_at_once", two_at_once},
      {"while_another_computes", [](Job& job) { while_another_computes(job, 2); }},
      {"while_another_is_stuck", [](Job& job) { while_another_computes(job, 60); }},
      {"after_the_others_are_done", after_the_others_are_done},
      {"stopped", stopped},
      {"interrupted", interrupted},
      {"failed_during_a_stop", failed_during_a_stop},
      {"interrupted_twice", [](Job&) { signaled_twice(SIGINT, SIGINT); }},
      {"terminated_twice", [](Job&) { signaled_twice(SIGTERM, SIGTERM); }},
      {"terminated_and_interrupted", [](Job&) { signaled_twice(SIGTERM, SIGINT); }},
      {"warned_and_terminated", [](Job&) { signaled_twice(SIGUSR1, SIGTERM); }},
      {"start_is_refused", start_fails_by<Error>},
      {"start_meets_a_lock", start_fails_by<HeldError>},
      {"start_meets_a_transient_error", start_fails_by<TransientError>},
      {"start_runs_out_of_memory", start_fails_by<OutOfMemory>},
      {"fails_after_the_start", fails_after_the_start},
      {"killed", [](Job& job) { killed(job, 1); }},
      {"first_killed", [](Job& job) { killed(job, 0); }},
      {"killed_during_computations", killed_during_computations},
      {"paused", paused},
      {"launcher_killed", launcher_killed},
      {"strangers", strangers},
      {"print_cpus", print_cpus},
      {"print_mpi", print_mpi},
  };
  mpi::Environment environment;
  Job job(environment);
  const int status = job.run([&] { endings.at(ending)(job); });
  std::printf("rank %d of %d ends with %d\n", job.rank(), job.size(), status);
  std::fflush(stdout);
  return status;
}

}  // namespace
}  // namespace lie

int main(int argc, char** argv) {
  try {
    return argc == 2 ? lie::run(argv[1]) : 2;
  } catch (const std::exception& error) {  // thrown before the job existed
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
