// Runs the ranks of a job so that they end together (invariant E8): when one of them throws, all
// end within seconds and exactly one prints the error.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/comm/environment.h"
#include "common/comm/liveness/failure_report.h"

namespace lie {

class Liveness;

/// Exit status (EX_TEMPFAIL) of a job that stopped before its work was complete. The same command
/// resumes it.
constexpr int kStoppedStatus = 75;
/// Exit status (EX_CONFIG) of a job whose start is refused: config, data, model or run directory
/// must change before another start can succeed.
constexpr int kRefusedStatus = 78;
/// Exit status (EX_UNAVAILABLE) of a job whose output belongs to a process that still runs.
constexpr int kHeldStatus = 69;

/// Thrown in a waiting rank when another rank has failed. Its text is never printed, because the
/// failed rank prints the report.
class JobEnding : public Error {
 public:
  explicit JobEnding(int failed_rank)
      : Error(fmt::format("rank {} failed; its report says why", failed_rank)) {}
};

/// Thrown on rank 0 to stop the job before its work is complete, without an error. All results so
/// far are kept. Its text says how to resume.
class JobStopped : public Error {
 public:
  using Error::Error;
};

/// Work that a rank does a little at a time whenever it polls the job's progress.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Does what is possible without blocking. Called on the thread that calls MPI. It must not poll
  /// the job's progress itself.
  virtual void advance() = 0;
};

/// Runs the work of this rank, and notifies the other ranks of how it ended. There is one Job per
/// process, which main creates after the Environment.
///
/// Protocol (tag kFarewell):
/// - A rank whose work is done waits until its children in the tree (tree.h) have sent kDone, then
///   sends kDone to its parent.
/// - When rank 0 has received kDone from its children, all ranks are done. Rank 0 sends kDone down
///   the tree, or kStopped if some work remains for another start.
/// - Three kinds of ranks end without success: one that fails (kFailed, or kRefused or kHeld at the
///   start), one that is notified of a failure (kFollows), and rank 0 when it stops early
///   (kInterrupted). Such a rank notifies all
///   others directly, because ranks between them in the tree may be computing. It waits some
///   seconds for the same from all of them and leaves through MPI_Finalize.
/// - The lowest rank that failed by itself prints the report.
/// - If a rank does not answer in time, because it is stuck in a long computation, MPI_Abort ends
///   the job.
/// - A rank that receives a stop signal before its farewell notifies rank 0 once. The message is
///   kSignal plus the signal's number.
///
/// A rank that cannot send (it was killed, or its host is lost) is detected by Liveness,
/// independently of this protocol.
class Job {
 public:
  explicit Job(mpi::Environment& environment);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  mpi::Environment& environment() { return environment_; }
  int rank() const { return environment_.rank(); }
  int size() const { return environment_.size(); }

  /// Set how the report describes this rank: "actor", "generating for step 12".
  void set_role(std::string role);
  void set_activity(std::string activity);

  /// Enclose the checks of a start. An Error in between refuses the start, unless it is a
  /// TransientError: the job ends with kRefusedStatus.
  void begin_start() { is_starting_ = true; }
  void end_start() { is_starting_ = false; }

  /// Must be called by every loop that waits. Throws JobEnding if another rank has failed.
  /// Otherwise it advances all registered work: inboxes receive what has arrived. Ranks that wait
  /// for each other in a cycle thus still accept each other's messages.
  void poll_progress();
  void add(Progress& work) { works_.push_back(&work); }
  void remove(Progress& work);

  /// Sets how long an operation of a group over NCCL may take before it ends the job; 0: no limit.
  void limit_collectives(double seconds) { collective_limit_ = seconds; }
  double collective_limit() const { return collective_limit_; }

  /// Keeps an object alive until all ranks have ended, with or without success. The lock on the run
  /// directory is kept this way.
  void keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }

  /// Returns on rank 0 the first stop signal that any rank received, and on other ranks the one
  /// that they received themselves. Returns 0 if there was none. Needs note_stop_signals()
  /// (common/process/stop_signals.h).
  int stop_signal() const;
  /// Calls `action` with the job's exit status when this rank has ended, before kept objects are
  /// destroyed. An exception of the action is ignored, because the status is decided by then.
  void at_end(std::function<void(int status)> action) { at_end_.push_back(std::move(action)); }

  /// Announces on rank 0 that this start ends with work left for another start. All ranks finish
  /// their work first.
  void set_stopped() { outcome_ = Farewell::kStopped; }
  /// Sets this rank's exit status for the case that all ranks finish.
  void set_finished_status(int status) { finished_status_ = status; }

  /// Runs `body`, then ends the job together with all other ranks. Returns the exit status: 0, or
  /// that of set_finished_status(), if all ranks finished, 1 if any failed, kRefusedStatus or
  /// kHeldStatus if none failed otherwise, kStoppedStatus if rank 0 stopped. One rank of a failed
  /// job prints the report to standard error.
  int run(const std::function<void()>& body);

 private:
  enum class Farewell : int {
    kNone = 0,
    kDone = 1,
    kFailed = 2,
    kFollows = 3,
    kStopped = 4,
    kInterrupted = 5,
    kRefused = 6,
    kHeld = 7,
    kSignal = 100,
  };

  static bool is_failure(Farewell farewell);
  Farewell failure_of(const std::exception& error) const;
  int first_failure() const;
  void receive_farewells();
  void forward_signal();
  void send(int other, int value);
  void notify_all(Farewell mine);
  bool all_ended_early() const;
  void await_farewell(int other);
  void end_complete();
  int first_rank_with(Farewell farewell) const;
  int exit_status() const;
  void throw_if_ended_early() const;
  int end_early(Farewell mine, const std::string& message);
  int conclude(int status);

  mpi::Environment& environment_;
  RankState state_;
  std::vector<Progress*> works_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<std::function<void(int)>> at_end_;
  std::vector<Farewell> farewells_;  // by rank
  Farewell outcome_ = Farewell::kDone;
  int stop_signal_ = 0;  // received from another rank
  bool signal_forwarded_ = false;
  bool is_starting_ = false;
  double collective_limit_ = 600;
  int finished_status_ = 0;
  // null in a world of one rank; declared last, so destroyed first
  std::unique_ptr<Liveness> liveness_;
};

}  // namespace lie
