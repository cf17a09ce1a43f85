#include "common/comm/job.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "common/comm/backoff.h"
#include "common/comm/mailbox.h"

namespace lie {
namespace {

// How long a failed job waits for ranks that compute before it is torn down.
constexpr std::chrono::seconds kPatience{5};

}  // namespace

JobEnding::JobEnding(int failed_rank)
    : Error(fmt::format("rank {} failed; its report says why", failed_rank)),
      failed_rank_(failed_rank) {}

Job::Job(mpi::Environment& environment)
    : environment_(environment), heard_(static_cast<std::size_t>(environment.size())) {}

void Job::remove(Attended& part) { std::erase(parts_, &part); }

void Job::attend() {
  hear_farewells();
  if (const int failed = first_failed(); failed >= 0) throw JobEnding(failed);
  for (Attended* part : parts_) part->attend();
}

int Job::run(const std::function<void()>& body) {
  try {
    body();
    send_farewell(Farewell::kDone);
    await_others();
    return 0;
  } catch (const JobEnding&) {
    return end_badly(Farewell::kFollows, "");
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
  heard_[static_cast<std::size_t>(status.MPI_SOURCE)] = static_cast<Farewell>(farewell);
}

void Job::send_farewell(Farewell mine) {
  Farewell& said = heard_[static_cast<std::size_t>(rank())];
  const bool said_before = said != Farewell::kNone;
  said = mine;
  if (said_before) return;  // done, then another rank failed: the others have heard that of it
  const auto value = std::make_shared<Bytes>(sizeof(int));
  *reinterpret_cast<int*>(value->data()) = static_cast<int>(mine);
  environment_.keep(value);
  for (int other = 0; other < size(); ++other) {
    if (other == rank()) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Isend(value->data(), 1, MPI_INT, other, static_cast<int>(Tag::kFarewell),
                         MPI_COMM_WORLD, &request),
               "sending a farewell");
    mpi::check(MPI_Request_free(&request), "freeing a request");
  }
}

bool Job::all_heard() const {
  return std::none_of(heard_.begin(), heard_.end(),
                      [](Farewell f) { return f == Farewell::kNone; });
}

int Job::first_failed() const {
  const auto failed = std::find(heard_.begin(), heard_.end(), Farewell::kFailed);
  return failed == heard_.end() ? -1 : static_cast<int>(failed - heard_.begin());
}

void Job::await_others() {
  Backoff backoff;
  while (!all_heard()) {
    attend();
    backoff.pause();
  }
  if (const int failed = first_failed(); failed >= 0) throw JobEnding(failed);
}

int Job::end_badly(Farewell mine, const std::string& message) {
  try {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    send_farewell(mine);
    for (Backoff backoff; !all_heard() && std::chrono::steady_clock::now() < deadline;
         backoff.pause()) {
      hear_farewells();
    }
  } catch (const Error&) {
    // MPI itself is what failed: the report below is all that can still be done.
  }
  if (mine == Farewell::kFailed && first_failed() == rank()) report(message);
  if (!all_heard()) MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

void Job::report(const std::string& message) const {
  const std::string activity = activity_.empty() ? "" : ", " + activity_;
  const std::string text = fmt::format("error on rank {} ({}) of {}, host {}{}: {}\n", rank(),
                                       role_, size(), environment_.host(), activity, message);
  std::fwrite(text.data(), 1, text.size(), stderr);  // one write, so that ranks' lines do not mix
  std::fflush(stderr);
}

}  // namespace lie
