#include "common/comm/job.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/comm/backoff.h"
#include "common/comm/liveness/liveness.h"
#include "common/comm/mailbox.h"
#include "common/comm/tree.h"
#include "common/process/stop_signals.h"

namespace lie {
namespace {

// Time that a failed job gives ranks that compute, before MPI_Abort.
constexpr std::chrono::seconds kAbortDelay{5};

}  // namespace

Job::Job(mpi::Environment& environment)
    : environment_(environment),
      state_{.rank = environment.rank(), .host = environment.host()},
      farewells_(static_cast<std::size_t>(environment.size())) {
  if (size() > 1) liveness_ = std::make_unique<Liveness>(environment);
}

Job::~Job() = default;

void Job::set_role(std::string role) {
  state_.role = std::move(role);
  if (liveness_) liveness_->update(state_);
}

void Job::set_activity(std::string activity) {
  state_.activity = std::move(activity);
  if (liveness_) liveness_->update(state_);
}

void Job::remove(Progress& work) { std::erase(works_, &work); }

void Job::poll_progress() {
  receive_farewells();
  forward_signal();
  throw_if_ended_early();
  for (Progress* work : works_) work->advance();
}

int Job::run(const std::function<void()>& body) {
  try {
    body();
    end_complete();
    return conclude(exit_status());
  } catch (const JobEnding&) {
    return end_early(Farewell::kFollows, "");
  } catch (const JobStopped& stopped) {
    std::fprintf(stderr, "%s\n", stopped.what());
    return end_early(Farewell::kInterrupted, "");
  } catch (const std::exception& error) {
    return end_early(failure_of(error), error.what());
  }
}

/// Runs the actions of the end. Returns the status.
int Job::conclude(int status) {
  for (const auto& action : std::exchange(at_end_, {})) {
    try {
      action(status);
    } catch (const std::exception&) {
      // The job has ended with this status, whether or not it can be recorded.
    }
  }
  return status;
}

bool Job::is_failure(Farewell farewell) {
  return farewell == Farewell::kFailed || farewell == Farewell::kRefused ||
         farewell == Farewell::kHeld;
}

/// Only an Error says that the input is to blame: others, such as bad_alloc, may pass.
Job::Farewell Job::failure_of(const std::exception& error) const {
  if (dynamic_cast<const HeldError*>(&error) != nullptr) return Farewell::kHeld;
  const bool may_pass = dynamic_cast<const Error*>(&error) == nullptr ||
                        dynamic_cast<const TransientError*>(&error) != nullptr;
  return is_starting_ && !may_pass ? Farewell::kRefused : Farewell::kFailed;
}

/// Returns the lowest rank that failed by itself, or -1.
int Job::first_failure() const {
  const auto who = std::ranges::find_if(farewells_, is_failure);
  return who == farewells_.end() ? -1 : static_cast<int>(who - farewells_.begin());
}

void Job::receive_farewells() {
  while (size() > 1) {
    int waiting = 0;
    MPI_Status status;
    const int tag = static_cast<int>(Tag::kFarewell);
    mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &waiting, &status), "probing");
    if (waiting == 0) return;
    int farewell = 0;
    mpi::check(
        MPI_Recv(&farewell, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        "receiving a farewell");
    if (farewell > static_cast<int>(Farewell::kSignal)) {
      if (stop_signal_ == 0) stop_signal_ = farewell - static_cast<int>(Farewell::kSignal);
    } else {
      farewells_[static_cast<std::size_t>(status.MPI_SOURCE)] = static_cast<Farewell>(farewell);
    }
  }
}

int Job::stop_signal() const { return stop_signal_ != 0 ? stop_signal_ : noted_stop_signal(); }

/// Sends nothing after this rank's farewell, because rank 0 may have ended by then.
void Job::forward_signal() {
  const bool sent_farewell = farewells_[static_cast<std::size_t>(rank())] != Farewell::kNone;
  if (rank() == 0 || signal_forwarded_ || sent_farewell || noted_stop_signal() == 0) return;
  signal_forwarded_ = true;
  send(0, static_cast<int>(Farewell::kSignal) + noted_stop_signal());
}

void Job::notify_all(Farewell mine) {
  farewells_[static_cast<std::size_t>(rank())] = mine;
  for (int other = 0; other < size(); ++other) {
    if (other != rank()) send(other, static_cast<int>(mine));
  }
}

void Job::send(int other, int value) {
  const auto kept = std::make_shared<Bytes>(sizeof(int));
  *reinterpret_cast<int*>(kept->data()) = value;
  environment_.keep(kept);
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Isend(kept->data(), 1, MPI_INT, other, static_cast<int>(Tag::kFarewell),
                       MPI_COMM_WORLD, &request),
             "sending a farewell");
  mpi::check(MPI_Request_free(&request), "freeing a request");
}

bool Job::all_ended_early() const {
  return std::all_of(farewells_.begin(), farewells_.end(), [](Farewell f) {
    return is_failure(f) || f == Farewell::kFollows || f == Farewell::kInterrupted;
  });
}

int Job::first_rank_with(Farewell farewell) const {
  const auto who = std::find(farewells_.begin(), farewells_.end(), farewell);
  return who == farewells_.end() ? -1 : static_cast<int>(who - farewells_.begin());
}

int Job::exit_status() const {
  if (first_rank_with(Farewell::kFailed) >= 0) return 1;
  if (first_rank_with(Farewell::kHeld) >= 0) return kHeldStatus;
  if (first_rank_with(Farewell::kRefused) >= 0) return kRefusedStatus;
  const Farewell decided = farewells_.front();
  const bool stopped = decided == Farewell::kStopped || decided == Farewell::kInterrupted;
  return stopped ? kStoppedStatus : finished_status_;
}

void Job::throw_if_ended_early() const {
  for (const int who : {first_failure(), first_rank_with(Farewell::kInterrupted)}) {
    if (who >= 0) throw JobEnding(who);
  }
}

void Job::await_farewell(int other) {
  const Farewell& farewell = farewells_[static_cast<std::size_t>(other)];
  Backoff backoff;
  while (farewell != Farewell::kDone && farewell != Farewell::kStopped) {
    poll_progress();
    backoff.pause();
  }
}

void Job::end_complete() {
  const TreePlace place = tree_place(rank(), size());
  farewells_[static_cast<std::size_t>(rank())] = outcome_;
  for (const int child : place.children) await_farewell(child);
  if (place.parent >= 0) {
    send(place.parent, static_cast<int>(Farewell::kDone));
    await_farewell(place.parent);
    farewells_.front() = farewells_[static_cast<std::size_t>(place.parent)];
  }
  for (const int child : place.children) send(child, static_cast<int>(farewells_.front()));
}

int Job::end_early(Farewell mine, const std::string& message) {
  if (liveness_) liveness_->announce_failure();
  try {
    const auto deadline = std::chrono::steady_clock::now() + kAbortDelay;
    notify_all(mine);
    for (Backoff backoff; !all_ended_early() && std::chrono::steady_clock::now() < deadline;
         backoff.pause()) {
      receive_farewells();
    }
  } catch (const Error&) {
    // MPI itself failed. Only the report below is still possible.
  }
  if (is_failure(mine) && first_failure() == rank()) {
    write_report(state_, size(), message);
  }
  const int status = conclude(exit_status() != 0 ? exit_status() : 1);
  if (!all_ended_early()) MPI_Abort(MPI_COMM_WORLD, status);
  return status;
}

}  // namespace lie
