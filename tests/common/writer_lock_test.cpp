#include "common/process/writer_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
#include <sstream>

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

/// Returns a holder on another host, on which the file system has no locks.
LockHolder elsewhere() {
  LockHolder holder = this_process("first");
  holder.host = "n17";
  holder.boot = "another";
  holder.has_kernel_lock = false;
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
  const LockHolder holder = parse_lock_holder(read_file(file_));
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

TEST_F(WriterLockTest, UnderThisKernelAFreeLockHasNoHolder) {
  leave(this_process("first"));
  check_unlocked(directory_);
  EXPECT_EQ(taken_from(), "first");
}

TEST_F(WriterLockTest, LocksOfOtherHostsAreRefusedWithARemedy) {
  leave(elsewhere());
  expect_in_error("held by \"first\" on host n17, process ");
  expect_in_error("the file system has no locks: if it has ended, remove " + file_.string());
  EXPECT_EQ(error_of([&] { check_unlocked(directory_); }), error());
}

TEST(LocksReachAllHosts, DependsOnTheFileSystemAndItsOptions) {
  const auto reach = [](const std::string& type, const std::string& options) {
    std::istringstream mounts(
        "22 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "40 22 0:40 / /runs rw,relatime shared:7 master:1 - " +
        type + " server:/runs " + options +
        "\n"
        "41 22 0:41 / /run rw - sysfs sysfs rw\n");
    return locks_reach_all_hosts(mounts, "/runs/mine");
  };
  EXPECT_TRUE(reach("nfs4", "rw,vers=4.2,local_lock=none"));
  EXPECT_FALSE(reach("nfs", "rw,vers=3,nolock,local_lock=all"));
  EXPECT_FALSE(reach("nfs", "rw,vers=3,local_lock=posix"));
  EXPECT_TRUE(reach("lustre", "rw,flock,lazystatfs"));
  EXPECT_FALSE(reach("lustre", "rw,localflock"));
  EXPECT_TRUE(reach("ext4", "rw"));
  EXPECT_FALSE(reach("beegfs", "rw"));
  EXPECT_FALSE(reach("fuse.sshfs", "rw"));
}

/// A process that is killed before it has written its name leaves such a file.
TEST_F(WriterLockTest, TakesOverFilesThatNameNoHolder) {
  for (const char* text : {"", "{\"command\": ", "[1, 2]", "{\"command\": 7}\n"}) {
    scratch_.write(kWriterLockName, text);
    EXPECT_EQ(taken_from(), "") << text;
  }
}

TEST_F(WriterLockTest, RefusesALockedFileThatNamesNoHolder) {
  const Descriptor file(::open(scratch_.write(kWriterLockName, "").c_str(), O_RDWR | O_CLOEXEC));
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(file.number(), F_OFD_SETLK, &whole), 0);
  expect_in_error("is being written by a process that has not written its name there: wait");
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
          results.put(std::string(error.what()).find(" is being written by ") != std::string::npos
                          ? 'r'
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

/// Acquires the lock. Counts an overlap if an independent flock() of `witness` is not free then.
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

TEST_F(WriterLockTest, APipeIsNoLock) {
  const fs::path pipe = directory_ / kWriterLockName;
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string words = pipe.string() + ": not a regular file, so it is no lock of a writer";
  EXPECT_TRUE(error_of([&] { check_unlocked(directory_); }).starts_with(words));
  EXPECT_TRUE(error_of([&] { WriterLock(directory_, "a"); }).starts_with(words));
}

TEST_F(WriterLockTest, UnwritableDirectoriesAreNamed) {
  EXPECT_TRUE(error_of([&] {
                WriterLock("/proc", "second");
              }).starts_with("/proc/writer.lock: cannot create it"));
  EXPECT_TRUE(error_of([&] {
                WriterLock(directory_ / "none" / "out.jsonl", "second");
              }).find("cannot create it: No such file") != std::string::npos);
}

/// Runs within a requeued Slurm job.
class UnderSlurm : public WriterLockTest {
 protected:
  UnderSlurm() {
    ::setenv("SLURM_CLUSTER_NAME", "east", 1);
    ::setenv("SLURM_JOB_ID", "40", 1);
    ::setenv("SLURM_RESTART_COUNT", "1", 1);
  }
  ~UnderSlurm() override {
    for (const char* name : {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"}) {
      ::unsetenv(name);
    }
  }
  void leave_job(const std::string& id, const std::string& cluster, std::int64_t restarts) {
    LockHolder holder = elsewhere();
    holder.slurm_job = id;
    holder.slurm_cluster = cluster;
    holder.slurm_restarts = restarts;
    leave(holder);
  }
};

TEST_F(UnderSlurm, RequeuedJobsTakeOverTheirOwnLock) {
  leave_job("40", "east", 0);
  EXPECT_EQ(taken_from(), "first");
}

TEST_F(UnderSlurm, LocksOfOtherJobsAndOfThisStartAreRefused) {
  leave_job("39", "east", 0);
  expect_in_error("Slurm job 39, since ");
  leave_job("40", "west", 0);
  expect_in_error("Slurm job 40, since ");
  leave_job("40", "east", 1);
  expect_in_error("Slurm job 40, since ");
}

}  // namespace
}  // namespace lie
