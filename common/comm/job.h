// Fail as one (invariant E8): when a rank throws, all ranks end within seconds and one of them says
// why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/comm/environment.h"
#include "common/comm/liveness/liveness.h"
#include "common/comm/liveness/rank_report.h"

namespace lie {

/// Exit status of a job that stopped with work left: the same command again goes on. (EX_TEMPFAIL)
constexpr int kStoppedStatus = 75;

/// Thrown where a rank waits, when another rank has failed. Its text is not for the terminal: the
/// rank that failed reports.
class JobEnding : public Error {
 public:
  explicit JobEnding(int failed_rank);
  int failed_rank() const { return failed_rank_; }

 private:
  int failed_rank_;
};

/// Thrown on rank 0 where it leaves off in the middle of its work, with nothing wrong and all that
/// was done kept: the job ends, and its text says how to go on.
class JobStopped : public Error {
 public:
  using Error::Error;
};

/// Something that a rank keeps moving while it waits for something else; see Job::attend.
class Progressing {
 public:
  virtual ~Progressing() = default;
  /// Never blocks, never calls Job::attend.
  virtual void poll_progress() = 0;
};

/// This rank's part in the job: runs its work, tells the others when that is over, well or badly,
/// and hears it of them. One per process, made by main after the Environment.
///
/// Protocol (tag kFarewell). A rank that has done its work, and whose children in the tree (tree.h)
/// have said kDone, says kDone to its parent. When rank 0 has heard its children all ranks are
/// done, and that goes down the tree: kDone again, or kStopped where work is left for another
/// start. A rank that fails (kFailed), hears of a failure (kFollows) or, rank 0, leaves in the
/// middle of its work (kInterrupted) says so to all directly, because those between may compute; it
/// waits some seconds for the same of them, and leaves through MPI_Finalize. The lowest rank that
/// failed of itself prints the report. If a rank does not answer in that time (it is stuck in a
/// long computation) the job is ended by MPI_Abort. Before its farewell a rank that was signalled
/// to stop tells rank 0 once: kSignal plus the signal's number.
/// A rank that can say nothing (killed, its host lost) is noticed by Liveness, beside all this.
class Job {
 public:
  explicit Job(mpi::Environment& environment);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  mpi::Environment& environment() { return environment_; }
  int rank() const { return environment_.rank(); }
  int size() const { return environment_.size(); }

  /// What the report says of this rank: "actor", "generating for step 12".
  void set_role(std::string role);
  void set_activity(std::string activity);

  /// Called by every loop that waits: throws JobEnding if another rank has failed, then lets the
  /// registered parts (inboxes, relays) take in what has arrived, so that ranks that wait for
  /// each other in a cycle still accept each other's messages.
  void poll_progress();
  void add(Progressing& part) { parts_.push_back(&part); }
  void remove(Progressing& part);

  /// Keeps something until all ranks have ended, well or badly: the lock on what they write.
  void keep(std::shared_ptr<const void> part) { kept_.push_back(std::move(part)); }

  /// Rank 0: the signal that asks the job to stop, the first that it heard of, to whichever rank;
  /// 0: none. Others: that to themselves. Needs note_stop_signals()
  /// (common/process/stop_signals.h).
  int stop_signal() const;
  /// Rank 0: all ranks come to the end of their work, but some is left for another start.
  void set_stopped() { outcome_ = Farewell::kStopped; }

  /// Runs `body`, then ends the job together with all other ranks. Returns the exit status: 0 if
  /// all ranks finished, 1 if any failed, kStoppedStatus if rank 0 stopped. Prints the report to
  /// standard error if it falls to this rank.
  int run(const std::function<void()>& body);

 private:
  enum class Farewell : int {
    kNone = 0,
    kDone = 1,
    kFailed = 2,
    kFollows = 3,
    kStopped = 4,
    kInterrupted = 5,
    kSignal = 100,
  };

  void hear_farewells();
  void pass_on_signal();
  void send(int other, int value);
  void tell_all(Farewell mine);
  bool all_end_badly() const;
  void await_farewell(int other);
  void end_well();
  int first_who_said(Farewell farewell) const;
  int exit_status() const;
  void require_all_well() const;
  int end_badly(Farewell mine, const std::string& message);
  void tell_traffic(double end_seconds);

  mpi::Environment& environment_;
  RankState state_;
  std::vector<Progressing*> parts_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<Farewell> heard_;  // by rank
  Farewell outcome_ = Farewell::kDone;
  int stop_signal_ = 0;  // that another rank told
  bool told_signal_ = false;
  std::unique_ptr<Liveness> liveness_;  // none in a world of one; ends before the rest
};

}  // namespace lie
