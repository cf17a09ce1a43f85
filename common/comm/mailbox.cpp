#include "common/comm/mailbox.h"

#include <limits>
#include <utility>

#include "common/comm/backoff.h"

namespace lie {
namespace {

int mpi_count(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(
        "a message of {} bytes is above MPI's limit of 2 GiB: use smaller groups or shorter "
        "responses",
        bytes);
  }
  return static_cast<int>(bytes);
}

bool completed(MPI_Request& request) {
  int done = 0;
  mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "testing a message");
  return done != 0;
}

/// A message that has arrived and is matched, so that no other receive can match it.
struct Matched {
  MPI_Message handle = MPI_MESSAGE_NULL;
  int source = 0, bytes = 0;
};

std::optional<Matched> match(int source, Tag tag) {
  int found = 0;
  Matched matched;
  MPI_Status status;
  mpi::check(
      MPI_Improbe(source, static_cast<int>(tag), MPI_COMM_WORLD, &found, &matched.handle, &status),
      "probing for a message");
  if (found == 0) return std::nullopt;
  matched.source = status.MPI_SOURCE;
  mpi::check(MPI_Get_count(&status, MPI_BYTE, &matched.bytes), "sizing a message");
  return matched;
}

MPI_Request begin_receive(Matched& matched, std::byte* into) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Imrecv(into, matched.bytes, MPI_BYTE, &matched.handle, &request),
             "receiving a message");
  return request;
}

}  // namespace

Outbox::~Outbox() {
  for (Send& send : sends_) job_.environment().keep(std::move(send.bytes));
}

void Outbox::post(int destination, Tag tag, std::shared_ptr<const Bytes> bytes) {
  Send send{std::move(bytes), MPI_REQUEST_NULL};
  mpi::check(MPI_Isend(send.bytes->data(), mpi_count(send.bytes->size()), MPI_BYTE, destination,
                       static_cast<int>(tag), MPI_COMM_WORLD, &send.request),
             "sending a message");
  sends_.push_back(std::move(send));
}

std::size_t Outbox::pending() {
  std::erase_if(sends_, [](Send& send) { return completed(send.request); });
  return sends_.size();
}

void Outbox::drain(std::size_t limit) {
  for (Backoff backoff; pending() > limit; backoff.pause()) job_.poll_progress();
}

Inbox::Inbox(Job& job, Tag tag) : job_(job), tag_(tag) {
  if (job.size() == 1) fail("a world of one rank has no messages: use in-process queues");
  job_.add(*this);
}

Inbox::~Inbox() {
  job_.remove(*this);
  // MPI may still be writing a message that has arrived only partly.
  if (incoming_) job_.environment().keep(std::make_shared<Bytes>(std::move(incoming_->bytes)));
}

bool Inbox::start_receive() {
  std::optional<Matched> matched = match(MPI_ANY_SOURCE, tag_);
  if (!matched) return false;
  incoming_ = Message{matched->source, Bytes(static_cast<std::size_t>(matched->bytes))};
  request_ = begin_receive(*matched, incoming_->bytes.data());
  return true;
}

void Inbox::advance() {
  while (incoming_ || start_receive()) {
    if (!completed(request_)) return;
    arrived_.push_back(*std::exchange(incoming_, std::nullopt));
  }
}

std::optional<Message> Inbox::try_receive() {
  job_.poll_progress();
  return next_received();
}

std::optional<Message> Inbox::next_received() {
  if (arrived_.empty()) return std::nullopt;
  Message message = std::move(arrived_.front());
  arrived_.pop_front();
  return message;
}

Message Inbox::receive() {
  for (Backoff backoff;; backoff.pause()) {
    if (std::optional<Message> message = try_receive()) return std::move(*message);
  }
}

void receive_into(Job& job, int source, Tag tag, std::span<std::byte> bytes) {
  Backoff backoff;
  std::optional<Matched> matched;
  while (!(matched = match(source, tag))) {
    job.poll_progress();
    backoff.pause();
  }
  if (static_cast<std::size_t>(matched->bytes) != bytes.size()) {
    fail(
        "collective (tag {}): rank {} sent {} bytes where {} were expected: the ranks disagree on "
        "the order of calls",
        static_cast<int>(tag), source, matched->bytes, bytes.size());
  }
  MPI_Request request = begin_receive(*matched, bytes.data());
  // Do not poll progress here, because it may throw while MPI writes into the caller's memory. The
  // receive completes, since its sender waits for that too or finalizes MPI.
  while (!completed(request)) backoff.pause();
}

}  // namespace lie
