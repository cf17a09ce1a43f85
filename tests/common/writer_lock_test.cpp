#include "common/process/writer_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>

#include "common/io/file.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

/// Forks a child process that runs `body` and ends without calling the destructors of its parent's
/// objects.
pid_t child(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  body();
  ::_exit(0);
}

void end(pid_t pid) {
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

/// A pipe for bytes between processes. Reading blocks.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  Pipe(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    close_writing();
  }
  void put(char byte) const { EXPECT_EQ(::write(ends_[1], &byte, 1), 1); }
  /// Returns the next byte, or 0 if all writing ends are closed.
  char get() const {
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1 ? byte : '\0';
  }
  void close_writing() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

/// Starts a process that holds the lock of `directory` until it is killed.
pid_t holder_of(const fs::path& directory) {
  const Pipe ready;
  const pid_t pid = child([&] {
    const WriterLock lock(directory, "first");
    ready.put('x');
    ::pause();
  });
  ready.get();
  return pid;
}

class WriterLockTest : public ::testing::Test {
 protected:
  void leave(LockHolder holder) { scratch_.write(kWriterLockName, to_text(holder)); }
  std::string error() {
    return error_of([&] { WriterLock(directory_, "second"); });
  }
  /// Takes the lock and returns the command of the holder that it was taken over from.
  std::string taken_from() {
    const WriterLock lock(directory_, "second");
    return lock.taken_from() ? lock.taken_from()->command : "none";
  }
  void expect_in_error(const std::string& words) {
    const std::string message = error();
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }

  TemporaryDirectory scratch_;
  fs::path directory_ = scratch_.path();
  fs::path file_ = directory_ / kWriterLockName;
};

/// Returns a holder that ran on another machine.
LockHolder elsewhere() {
  LockHolder holder = this_process("first");
  holder.host = "n17";
  holder.machine = "another";
  holder.boot = "another";
  return holder;
}

TEST_F(WriterLockTest, LeavesNoFilesAfterItsRelease) {
  {
    const WriterLock lock(directory_, "first");
    EXPECT_EQ(list_directory(directory_), std::vector<std::string>{kWriterLockName});
  }
  EXPECT_TRUE(fs::is_empty(directory_));
  EXPECT_EQ(taken_from(), "none");
}

TEST_F(WriterLockTest, LocksAFileByAnotherFileNextToIt) {
  const WriterLock lock(directory_ / "out.jsonl", "first");
  EXPECT_EQ(list_directory(directory_), std::vector<std::string>{"out.jsonl.lock"});
  const WriterLock of_another(directory_ / "other.jsonl", "second");
}

TEST_F(WriterLockTest, RefusalNamesTheRunningHolder) {
  const pid_t pid = holder_of(directory_);
  const LockHolder holder = *parse_lock_holder(read_file(file_));
  EXPECT_EQ(holder.pid, pid);
  expect_in_error(directory_.string() + " is being written by \"first\" on host " + holder.host +
                  ", process " + std::to_string(pid) + ", since 2");
  EXPECT_EQ(error_of([&] { check_unlocked(directory_); }),
            error_of([&] { const WriterLock second(directory_, "second"); }));
  EXPECT_EQ(list_directory(directory_), std::vector<std::string>{kWriterLockName});
  end(pid);
}

TEST_F(WriterLockTest, KilledHoldersLoseTheLock) {
  end(holder_of(directory_));
  check_unlocked(directory_);
  EXPECT_TRUE(fs::exists(file_));
  EXPECT_EQ(taken_from(), "first");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(WriterLockTest, ZombieHoldersCountAsGone) {
  const pid_t pid = holder_of(directory_);
  ::kill(pid, SIGKILL);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);  // dead, but still a zombie
  EXPECT_EQ(taken_from(), "first");
  end(pid);
}

TEST_F(WriterLockTest, AReusedPidIsNotTheHolder) {
  LockHolder holder = this_process("first");
  leave(holder);
  expect_in_error("is being written by \"first\"");
  ++holder.start_ticks;
  leave(holder);
  EXPECT_EQ(taken_from(), "first");
}

TEST_F(WriterLockTest, LocksOfOtherHostsAreRefusedWithARemedy) {
  leave(elsewhere());
  expect_in_error("held by \"first\" on host n17, process ");
  expect_in_error("if it has ended, remove " + file_.string());
}

TEST_F(WriterLockTest, HoldersBeforeARebootAreGone) {
  LockHolder holder = this_process("first");
  if (holder.machine.empty()) GTEST_SKIP() << "this machine has no /etc/machine-id";
  holder.boot = "the boot before";
  leave(holder);
  EXPECT_EQ(taken_from(), "first");
}

TEST_F(WriterLockTest, HoldersInOtherContainersAreGoneIfTheKernelLockIsFree) {
  LockHolder holder = this_process("first");
  holder.pid_namespace = "pid:[1]";
  leave(holder);
  expect_in_error("remove " + file_.string());
  holder.has_kernel_lock = true;
  leave(holder);
  EXPECT_EQ(taken_from(), "first");
}

TEST_F(WriterLockTest, LocksWithoutAHolderAreRefused) {
  for (const char* text : {"", "{\"token\": ", "[1, 2]", "{\"token\": 7}\n"}) {
    scratch_.write(kWriterLockName, text);
    expect_in_error("its lock " + file_.string() + " does not name its holder; if no process");
  }
}

TEST_F(WriterLockTest, IgnoresTheFilesOfKilledStarters) {
  LockHolder gone = this_process("first");
  ++gone.start_ticks;
  LockHolder starter = gone;
  starter.token = "00000000000000aa";
  leave(gone);
  scratch_.write("writer.lock.after-" + gone.token, to_text(starter));
  scratch_.write("writer.lock.new-00000000000000aa", to_text(starter));
  scratch_.write("writer.lock.new-00000000000000bb", "");  // its process may still run: kept
  EXPECT_EQ(taken_from(), "first");
  EXPECT_EQ(list_directory(directory_),
            std::vector<std::string>{"writer.lock.new-00000000000000bb"});
}

TEST_F(WriterLockTest, DoesNotRemoveAnotherHoldersLock) {
  {
    const WriterLock lock(directory_, "first");
    fs::remove(file_);
    leave(elsewhere());
  }
  EXPECT_TRUE(fs::exists(file_));
}

TEST_F(WriterLockTest, ExactlyOneOfManyStartersWins) {
  constexpr int kStarters = 12;
  for (int round = 0; round < 20; ++round) {
    end(holder_of(directory_));
    Pipe go, stay;
    const Pipe results;
    std::vector<pid_t> starters;
    for (int i = 0; i < kStarters; ++i) {
      starters.push_back(child([&] {
        go.close_writing(), stay.close_writing();
        go.get();
        try {
          const WriterLock lock(directory_, "second");
          results.put('w');
          stay.get();
        } catch (const Error& error) {
          results.put(std::string(error.what()).find("\"second\"") != std::string::npos ? 'r'
                                                                                        : '?');
        }
      }));
    }
    go.close_writing();
    std::string received;
    for (int i = 0; i < kStarters; ++i) received += results.get();
    stay.close_writing();
    for (const pid_t pid : starters) ::waitpid(pid, nullptr, 0);
    EXPECT_EQ(std::ranges::count(received, 'w'), 1) << received;
    EXPECT_EQ(std::ranges::count(received, 'r'), kStarters - 1) << received;
  }
}

/// Counters in the shared memory of the next test's processes.
struct Counts {
  std::atomic<int> taken = 0, overlaps = 0;
};

/// Acquires the lock. Meanwhile an flock() of `witness`, which is independent of it, must be free.
void write_a_little(const fs::path& directory, int witness, Counts& counts) {
  const WriterLock lock(directory, "one of many");
  ++counts.taken;
  if (::flock(witness, LOCK_EX | LOCK_NB) != 0) ++counts.overlaps;
  ::sched_yield();
  ::flock(witness, LOCK_UN);
}

/// Calls write_a_little() and ignores its error if another process has the lock.
void try_to_write(const fs::path& directory, int witness, Counts& counts) {
  try {
    write_a_little(directory, witness, counts);
  } catch (const Error&) {
  }
}

/// Tries to write once, however slow the machine is, then repeats until a timer kills the process
/// at a random place.
[[noreturn]] void write_again_and_again(const fs::path& directory, Counts& counts, unsigned seed) {
  // Opened before the lock file, because a dying process closes its files in this order.
  const int witness = ::open((directory / "witness").c_str(), O_RDWR | O_CREAT, 0644);
  std::mt19937 random(seed);
  try_to_write(directory, witness, counts);
  const struct itimerval life = {{0, 0}, {0, static_cast<suseconds_t>(5000 + random() % 40000)}};
  ::setitimer(ITIMER_REAL, &life, nullptr);
  while (true) try_to_write(directory, witness, counts);
}

TEST_F(WriterLockTest, NeverHasTwoHoldersWhileProcessesStartAndDie) {
  void* memory =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& counts = *new (memory) Counts;
  for (unsigned generation = 0; generation < 20; ++generation) {
    std::vector<pid_t> processes;
    for (unsigned i = 0; i < 8; ++i) {
      processes.push_back(
          child([&] { write_again_and_again(directory_, counts, generation * 8 + i); }));
    }
    for (const pid_t pid : processes) ::waitpid(pid, nullptr, 0);
  }
  EXPECT_EQ(counts.overlaps, 0);
  EXPECT_GE(counts.taken, 20) << "at least one process acquires it in each generation";
  EXPECT_NE(taken_from(), "second") << "the next process can take it over";
  ::munmap(memory, sizeof(Counts));
}

TEST_F(WriterLockTest, FullDisksAreReportedAndLeaveNoFiles) {
  const Pipe verdict;
  const pid_t pid = child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = {0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    verdict.put(error().find(": cannot write it: ") != std::string::npos ? 'y' : 'n');
  });
  EXPECT_EQ(verdict.get(), 'y');
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(WriterLockTest, UnwritableDirectoriesAreNamed) {
  EXPECT_TRUE(
      error_of([&] { WriterLock("/proc", "second"); }).starts_with("/proc/writer.lock.new-"));
  EXPECT_TRUE(error_of([&] {
                WriterLock(directory_ / "none" / "out.jsonl", "second");
              }).find("cannot create it: No such file") != std::string::npos);
}

/// Runs within a simulated Slurm job, whose squeue prints the answers of a test.
class UnderSlurm : public WriterLockTest {
 protected:
  UnderSlurm() : path_(std::getenv("PATH")) {
    fs::create_directory(directory_ / "bin");
    set("PATH", (directory_ / "bin").string() + ":" + path_);
    set("SLURM_CLUSTER_NAME", "east");
    set("SLURM_JOB_ID", "40");
    set("SLURM_RESTART_COUNT", "1");
  }
  ~UnderSlurm() override {
    set("PATH", path_);
    for (const char* name : {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"}) {
      ::unsetenv(name);
    }
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
  void squeue(const std::string& script) {
    fs::permissions(scratch_.write("bin/squeue", "#!/bin/sh\n" + script + "\n"), fs::perms::all);
  }
  void leave_job(const std::string& id, const std::string& cluster = "east",
                 const std::string& step = "") {
    LockHolder holder = elsewhere();
    holder.slurm_job = id;
    holder.slurm_cluster = cluster;
    holder.slurm_step = step;
    holder.slurm_restarts = 0;
    leave(holder);
  }

  std::string path_;
};

TEST_F(UnderSlurm, EndedJobsAreGone) {
  for (const char* answer : {"echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1",
                             "exit 0", "echo TIMEOUT", "echo PENDING"}) {
    squeue(answer);
    leave_job("39");
    EXPECT_EQ(taken_from(), "first") << answer;
  }
}

TEST_F(UnderSlurm, RunningAndUnknownJobsAreRefused) {
  for (const char* answer : {"echo RUNNING", "echo COMPLETING", "printf 'FAILED\\nRUNNING\\n'",
                             "echo 'Unable to contact slurm controller' >&2; exit 1"}) {
    squeue(answer);
    leave_job("39");
    expect_in_error("Slurm job 39, since ");
  }
}

TEST_F(UnderSlurm, JobsOfOtherClustersAreUnknown) {
  squeue("exit 0");
  leave_job("39", "west");
  expect_in_error("Slurm job 39");
}

TEST_F(UnderSlurm, InvalidJobIdsAreNotPassedToSqueue) {
  squeue("touch " + (directory_ / "asked").string());
  leave_job("39; touch " + (directory_ / "run").string());
  expect_in_error("on host n17");
  EXPECT_FALSE(fs::exists(directory_ / "asked"));
  EXPECT_FALSE(fs::exists(directory_ / "run"));
}

TEST_F(UnderSlurm, RequeuedJobsTakeOverTheirOwnLock) {
  squeue("echo RUNNING");
  leave_job("40");
  EXPECT_EQ(taken_from(), "first");
}

TEST_F(UnderSlurm, EndedStepsOfRunningJobsAreGone) {
  set("SLURM_RESTART_COUNT", "0");
  squeue("case \"$*\" in *--steps=40.3) ;; *) echo RUNNING ;; esac");
  leave_job("40", "east", "2");
  expect_in_error("Slurm job 40");
  leave_job("40", "east", "3");
  EXPECT_EQ(taken_from(), "first");
}

}  // namespace
}  // namespace lie
