#include "common/comm/ticket_queue.h"

#include <algorithm>
#include <utility>

#include "common/comm/mailbox.h"
#include "common/comm/wire.h"

namespace lie {
namespace {

/// Removes an actor that is about to be answered from the waiting list.
void remove_waiting(std::vector<WaitingActor>& waiting, int actor) {
  const auto found = std::ranges::find(waiting, actor, &WaitingActor::actor);
  if (found == waiting.end()) {
    fail("ticket queue: actor {} was answered without an open request", actor);
  }
  waiting.erase(found);
}

class MpiTicketQueue : public TicketQueue {
 public:
  MpiTicketQueue(Job& job, std::vector<int> actors)
      : requests_(job, Tag::kTicketRequest), answers_(job), actors_(std::move(actors)) {}

  std::vector<WaitingActor> waiting_actors() override {
    while (const std::optional<Message> request = requests_.try_receive()) {
      waiting_.push_back({actor_of(request->source), wire::unpack<TicketRequest>(request->bytes)});
    }
    answers_.pending();
    return waiting_;
  }

  void answer(int actor, Assignment assignment) override {
    remove_waiting(waiting_, actor);
    answers_.post(actors_[static_cast<std::size_t>(actor)], Tag::kTicketAnswer,
                  std::make_shared<const Bytes>(wire::pack(assignment)));
  }

 private:
  int actor_of(int rank) const {
    const auto found = std::find(actors_.begin(), actors_.end(), rank);
    if (found == actors_.end())
      fail("ticket queue: rank {} requested tickets but is not an actor", rank);
    return static_cast<int>(found - actors_.begin());
  }

  Inbox requests_;
  Outbox answers_;
  std::vector<int> actors_;
  std::vector<WaitingActor> waiting_;
};

class MpiTicketClient : public TicketClient {
 public:
  MpiTicketClient(Job& job, int ticket_queue_rank)
      : answers_(job, Tag::kTicketAnswer), requests_(job), ticket_queue_rank_(ticket_queue_rank) {}

 private:
  void send_request(TicketRequest request) override {
    requests_.pending();
    requests_.post(ticket_queue_rank_, Tag::kTicketRequest,
                   std::make_shared<const Bytes>(wire::pack(request)));
  }
  Assignment wait_answer() override { return wire::unpack<Assignment>(answers_.receive().bytes); }
  std::optional<Assignment> try_answer() override {
    const std::optional<Message> answer = answers_.try_receive();
    if (!answer) return std::nullopt;
    return wire::unpack<Assignment>(answer->bytes);
  }

  Inbox answers_;
  Outbox requests_;
  int ticket_queue_rank_;
};

}  // namespace

Assignment TicketClient::receive(TicketRequest request) {
  if (finished_) return {};
  send_request_once(request);
  return accept(wait_answer());
}

std::optional<Assignment> TicketClient::try_receive(TicketRequest request) {
  if (finished_) return Assignment();
  send_request_once(request);
  std::optional<Assignment> answer = try_answer();
  return answer ? accept(std::move(*answer)) : answer;
}

void TicketClient::send_request_once(TicketRequest request) {
  if (!std::exchange(request_open_, true)) send_request(request);
}

Assignment TicketClient::accept(Assignment answer) {
  request_open_ = false;
  finished_ = answer.kind == Assignment::Kind::kFinish;
  return answer;
}

std::unique_ptr<TicketQueue> mpi_ticket_queue(Job& job, std::vector<int> actors) {
  return std::make_unique<MpiTicketQueue>(job, std::move(actors));
}

std::unique_ptr<TicketClient> mpi_ticket_client(Job& job, int ticket_queue_rank) {
  return std::make_unique<MpiTicketClient>(job, ticket_queue_rank);
}

class LocalTicketQueue::Client : public TicketClient {
 public:
  Client(LocalTicketQueue& ticket_queue, int actor) : ticket_queue_(ticket_queue), actor_(actor) {}

 private:
  void send_request(TicketRequest request) override { ticket_queue_.send_request(actor_, request); }
  Assignment wait_answer() override { return ticket_queue_.wait_answer(actor_); }
  std::optional<Assignment> try_answer() override { return ticket_queue_.try_answer(actor_); }

  LocalTicketQueue& ticket_queue_;
  int actor_;
};

LocalTicketQueue::LocalTicketQueue(int actors) : answers_(static_cast<std::size_t>(actors)) {}

std::unique_ptr<TicketClient> LocalTicketQueue::client(int actor) {
  return std::make_unique<Client>(*this, actor);
}

void LocalTicketQueue::check_poison() const {
  if (poison_) std::rethrow_exception(poison_);
}

std::vector<WaitingActor> LocalTicketQueue::waiting_actors() {
  const std::lock_guard lock(mutex_);
  check_poison();
  return waiting_;
}

void LocalTicketQueue::answer(int actor, Assignment assignment) {
  const std::lock_guard lock(mutex_);
  check_poison();
  remove_waiting(waiting_, actor);
  answers_[static_cast<std::size_t>(actor)] = std::move(assignment);
  answered_.notify_all();
}

void LocalTicketQueue::poison(std::exception_ptr cause) {
  const std::lock_guard lock(mutex_);
  if (!poison_) poison_ = std::move(cause);
  answered_.notify_all();
}

void LocalTicketQueue::send_request(int actor, TicketRequest request) {
  const std::lock_guard lock(mutex_);
  check_poison();
  waiting_.push_back({actor, request});
}

std::optional<Assignment> LocalTicketQueue::try_answer(int actor) {
  const std::lock_guard lock(mutex_);
  check_poison();
  return std::exchange(answers_[static_cast<std::size_t>(actor)], std::nullopt);
}

Assignment LocalTicketQueue::wait_answer(int actor) {
  std::unique_lock lock(mutex_);
  std::optional<Assignment>& answer = answers_[static_cast<std::size_t>(actor)];
  answered_.wait(lock, [&] { return poison_ || answer; });
  check_poison();
  return *std::exchange(answer, std::nullopt);
}

}  // namespace lie
