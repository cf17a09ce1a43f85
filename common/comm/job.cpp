#include "common/comm/job.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "common/base/clock.h"
#include "common/comm/backoff.h"
#include "common/comm/mailbox.h"
#include "common/comm/tree.h"
#include "common/process/stop_signals.h"

namespace lie {
namespace {

// Time that a failed job gives ranks that compute, before MPI_Abort.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

JobEnding::JobEnding(int failed_rank)
    : Error(fmt::format("rank {} failed; its report says why", failed_rank)),
      failed_rank_(failed_rank) {}

Job::Job(mpi::Environment& environment)
    : environment_(environment),
      state_{.rank = environment.rank(), .host = environment.host()},
      heard_(static_cast<std::size_t>(environment.size())) {
  if (size() > 1) liveness_ = std::make_unique<Liveness>(environment);
}

void Job::set_role(std::string role) {
  state_.role = std::move(role);
  if (liveness_) liveness_->tell(state_);
}

void Job::set_activity(std::string activity) {
  state_.activity = std::move(activity);
  if (liveness_) liveness_->tell(state_);
}

void Job::remove(Progressing& part) { std::erase(parts_, &part); }

void Job::poll_progress() {
  hear_farewells();
  pass_on_signal();
  require_all_well();
  for (Progressing* part : parts_) part->poll_progress();
}

int Job::run(const std::function<void()>& body) {
  try {
    body();
    const Stopwatch watch;
    end_well();
    tell_traffic(watch.seconds());
    return exit_status();
  } catch (const JobEnding&) {
    return end_badly(Farewell::kFollows, "");
  } catch (const JobStopped& stopped) {
    std::fprintf(stderr, "%s\n", stopped.what());
    return end_badly(Farewell::kInterrupted, "");
  } catch (const std::exception& error) {
    return end_badly(Farewell::kFailed, error.what());
  }
}

void Job::hear_farewells() {
  if (size() == 1) return;
  int waiting = 0;
  MPI_Status status;
  const int tag = static_cast<int>(Tag::kFarewell);
  mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &waiting, &status), "probing");
  if (waiting == 0) return;
  int farewell = 0;
  mpi::check(
      MPI_Recv(&farewell, 1, MPI_INT, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      "receiving a farewell");
  environment_.traffic().received(tag, status.MPI_SOURCE, sizeof farewell);
  if (farewell > static_cast<int>(Farewell::kSignal)) {
    if (stop_signal_ == 0) stop_signal_ = farewell - static_cast<int>(Farewell::kSignal);
  } else {
    heard_[static_cast<std::size_t>(status.MPI_SOURCE)] = static_cast<Farewell>(farewell);
  }
}

int Job::stop_signal() const { return stop_signal_ != 0 ? stop_signal_ : noted_stop_signal(); }

/// Sends nothing after this rank's farewell, because rank 0 may have ended by then.
void Job::pass_on_signal() {
  const bool said_farewell = heard_[static_cast<std::size_t>(rank())] != Farewell::kNone;
  if (rank() == 0 || told_signal_ || said_farewell || noted_stop_signal() == 0) return;
  told_signal_ = true;
  send(0, static_cast<int>(Farewell::kSignal) + noted_stop_signal());
}

void Job::tell_all(Farewell mine) {
  heard_[static_cast<std::size_t>(rank())] = mine;
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
  environment_.traffic().sent(static_cast<int>(Tag::kFarewell), other, sizeof value);
}

bool Job::all_end_badly() const {
  return std::all_of(heard_.begin(), heard_.end(), [](Farewell f) {
    return f == Farewell::kFailed || f == Farewell::kFollows || f == Farewell::kInterrupted;
  });
}

int Job::first_who_said(Farewell farewell) const {
  const auto who = std::find(heard_.begin(), heard_.end(), farewell);
  return who == heard_.end() ? -1 : static_cast<int>(who - heard_.begin());
}

int Job::exit_status() const {
  if (first_who_said(Farewell::kFailed) >= 0) return 1;
  const Farewell decided = heard_.front();
  const bool stopped = decided == Farewell::kStopped || decided == Farewell::kInterrupted;
  return stopped ? kStoppedStatus : 0;
}

void Job::require_all_well() const {
  for (const Farewell bad : {Farewell::kFailed, Farewell::kInterrupted}) {
    if (const int who = first_who_said(bad); who >= 0) throw JobEnding(who);
  }
}

void Job::await_farewell(int other) {
  const Farewell& farewell = heard_[static_cast<std::size_t>(other)];
  Backoff backoff;
  while (farewell != Farewell::kDone && farewell != Farewell::kStopped) {
    poll_progress();
    backoff.pause();
  }
}

void Job::end_well() {
  const TreePlace place = tree_place(rank(), size());
  heard_[static_cast<std::size_t>(rank())] = outcome_;
  for (const int child : place.children) await_farewell(child);
  if (place.parent >= 0) {
    send(place.parent, static_cast<int>(Farewell::kDone));
    await_farewell(place.parent);
    heard_.front() = heard_[static_cast<std::size_t>(place.parent)];
  }
  for (const int child : place.children) send(child, static_cast<int>(heard_.front()));
}

int Job::end_badly(Farewell mine, const std::string& message) {
  if (liveness_) liveness_->tell_failing();
  try {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    tell_all(mine);
    for (Backoff backoff; !all_end_badly() && std::chrono::steady_clock::now() < deadline;
         backoff.pause()) {
      hear_farewells();
    }
  } catch (const Error&) {
    // MPI itself failed. Only the report below is still possible.
  }
  if (mine == Farewell::kFailed && first_who_said(mine) == rank()) {
    write_report(state_, size(), message);
  }
  const int status = exit_status() != 0 ? exit_status() : 1;
  if (!all_end_badly()) MPI_Abort(MPI_COMM_WORLD, status);
  return status;
}

void Job::tell_traffic(double end_seconds) {
  if (!Traffic::is_wanted()) return;
  const std::string line = environment_.traffic().line(rank(), state_.role, end_seconds);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace lie
