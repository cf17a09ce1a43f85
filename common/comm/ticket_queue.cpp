#include "common/comm/ticket_queue.h"

#include <algorithm>
#include <utility>

#include "common/comm/channel.h"
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
                  wire::pack(assignment));
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

}  // namespace

Assignment TicketClient::receive(TicketRequest request) {
  if (finished_) return {};
  send_request_once(request);
  return accept(answers_->receive().value());
}

std::optional<Assignment> TicketClient::try_receive(TicketRequest request) {
  if (finished_) return Assignment();
  send_request_once(request);
  std::optional<Assignment> answer = answers_->try_receive();
  return answer ? accept(std::move(*answer)) : answer;
}

void TicketClient::send_request_once(TicketRequest request) {
  if (!std::exchange(request_open_, true)) send_(request);
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
  const auto requests = std::make_shared<Outbox>(job);
  const auto send = [=](TicketRequest request) {
    requests->pending();
    requests->post(ticket_queue_rank, Tag::kTicketRequest, wire::pack(request));
  };
  return std::make_unique<TicketClient>(
      send, std::make_shared<MpiSource<Assignment>>(job, Tag::kTicketAnswer, 1));
}

LocalTicketQueue::LocalTicketQueue(int actors) : requests_(static_cast<std::size_t>(actors)) {
  for (int actor = 0; actor < actors; ++actor) {
    answers_.push_back(std::make_shared<BoundedQueue<Assignment>>(1));
  }
}

std::unique_ptr<TicketClient> LocalTicketQueue::client(int actor) {
  const auto send = [this, actor](TicketRequest request) { requests_.send({actor, request}); };
  return std::make_unique<TicketClient>(send, answers_[static_cast<std::size_t>(actor)]);
}

std::vector<WaitingActor> LocalTicketQueue::waiting_actors() {
  while (const auto request = requests_.try_receive()) waiting_.push_back(*request);
  return waiting_;
}

void LocalTicketQueue::answer(int actor, Assignment assignment) {
  remove_waiting(waiting_, actor);
  answers_[static_cast<std::size_t>(actor)]->send(std::move(assignment));
}

void LocalTicketQueue::poison(std::exception_ptr cause) {
  requests_.poison(cause);
  for (const auto& answers : answers_) answers->poison(cause);
}

}  // namespace lie
