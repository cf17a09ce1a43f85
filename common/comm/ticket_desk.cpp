#include "common/comm/ticket_desk.h"

#include <algorithm>
#include <utility>

#include "common/comm/mailbox.h"
#include "common/comm/wire.h"

namespace lie {
namespace {

void check_is_waiting(const std::deque<int>& waiting, int actor) {
  if (std::find(waiting.begin(), waiting.end(), actor) == waiting.end()) {
    fail("ticket desk: actor {} was answered without having asked", actor);
  }
}

class MpiTicketDesk : public TicketDesk {
 public:
  MpiTicketDesk(Job& job, std::vector<int> actors)
      : requests_(job, Tag::kTicketRequest), answers_(job), actors_(std::move(actors)) {}

  std::vector<int> waiting_actors() override {
    while (const std::optional<Message> request = requests_.try_take()) {
      waiting_.push_back(actor_of(request->source));
    }
    answers_.pending();
    return {waiting_.begin(), waiting_.end()};
  }

  void answer(int actor, const Assignment& assignment) override {
    check_is_waiting(waiting_, actor);
    std::erase(waiting_, actor);
    answers_.post(actors_[static_cast<std::size_t>(actor)], Tag::kTicketAnswer,
                  std::make_shared<const Bytes>(wire::pack(assignment)));
  }

 private:
  int actor_of(int rank) const {
    const auto found = std::find(actors_.begin(), actors_.end(), rank);
    if (found == actors_.end())
      fail("ticket desk: rank {} asks for a ticket but is no actor", rank);
    return static_cast<int>(found - actors_.begin());
  }

  Inbox requests_;
  Outbox answers_;
  std::vector<int> actors_;
  std::deque<int> waiting_;
};

class MpiTicketClient : public PollableSource<Assignment> {
 public:
  MpiTicketClient(Job& job, int desk_rank)
      : answers_(job, Tag::kTicketAnswer), requests_(job), desk_rank_(desk_rank) {}

  std::optional<Assignment> receive() override {
    if (!ask()) return std::nullopt;
    return take(answers_.take());
  }

  std::optional<Assignment> try_receive() override {
    if (!ask()) return std::nullopt;
    const std::optional<Message> answer = answers_.try_take();
    if (!answer) return std::nullopt;
    return take(*answer);
  }

 private:
  bool ask() {
    if (finished_ || asked_) return !finished_;
    requests_.pending();
    requests_.post(desk_rank_, Tag::kTicketRequest, std::make_shared<const Bytes>());
    asked_ = true;
    return true;
  }

  Assignment take(const Message& answer) {
    asked_ = false;
    auto assignment = wire::unpack<Assignment>(answer.bytes);
    finished_ = assignment.kind == Assignment::Kind::kFinish;
    return assignment;
  }

  Inbox answers_;
  Outbox requests_;
  int desk_rank_;
  bool asked_ = false;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<TicketDesk> mpi_ticket_desk(Job& job, std::vector<int> actors) {
  return std::make_unique<MpiTicketDesk>(job, std::move(actors));
}

std::unique_ptr<PollableSource<Assignment>> mpi_ticket_client(Job& job, int desk_rank) {
  return std::make_unique<MpiTicketClient>(job, desk_rank);
}

class LocalTicketDesk::Client : public PollableSource<Assignment> {
 public:
  Client(LocalTicketDesk& desk, int actor) : desk_(desk), actor_(actor) {}

  std::optional<Assignment> receive() override {
    if (!ask()) return std::nullopt;
    return note(desk_.wait_answer(actor_));
  }

  std::optional<Assignment> try_receive() override {
    if (!ask()) return std::nullopt;
    return note(desk_.try_answer(actor_));
  }

 private:
  bool ask() {
    if (finished_ || asked_) return !finished_;
    desk_.ask(actor_);
    asked_ = true;
    return true;
  }

  std::optional<Assignment> note(std::optional<Assignment> answer) {
    if (answer) {
      asked_ = false;
      finished_ = answer->kind == Assignment::Kind::kFinish;
    }
    return answer;
  }

  LocalTicketDesk& desk_;
  int actor_;
  bool asked_ = false;
  bool finished_ = false;
};

LocalTicketDesk::LocalTicketDesk(int actors) : answers_(static_cast<std::size_t>(actors)) {}

std::unique_ptr<PollableSource<Assignment>> LocalTicketDesk::client(int actor) {
  return std::make_unique<Client>(*this, actor);
}

void LocalTicketDesk::check_poison() const {
  if (poison_) std::rethrow_exception(poison_);
}

std::vector<int> LocalTicketDesk::waiting_actors() {
  const std::lock_guard lock(mutex_);
  check_poison();
  return {waiting_.begin(), waiting_.end()};
}

void LocalTicketDesk::answer(int actor, const Assignment& assignment) {
  const std::lock_guard lock(mutex_);
  check_poison();
  check_is_waiting(waiting_, actor);
  std::erase(waiting_, actor);
  answers_[static_cast<std::size_t>(actor)] = assignment;
  answered_.notify_all();
}

void LocalTicketDesk::poison(std::exception_ptr cause) {
  const std::lock_guard lock(mutex_);
  if (!poison_) poison_ = std::move(cause);
  answered_.notify_all();
}

void LocalTicketDesk::ask(int actor) {
  const std::lock_guard lock(mutex_);
  check_poison();
  waiting_.push_back(actor);
}

std::optional<Assignment> LocalTicketDesk::try_answer(int actor) {
  const std::lock_guard lock(mutex_);
  check_poison();
  return std::exchange(answers_[static_cast<std::size_t>(actor)], std::nullopt);
}

Assignment LocalTicketDesk::wait_answer(int actor) {
  std::unique_lock lock(mutex_);
  std::optional<Assignment>& answer = answers_[static_cast<std::size_t>(actor)];
  answered_.wait(lock, [&] { return poison_ || answer; });
  check_poison();
  return *std::exchange(answer, std::nullopt);
}

}  // namespace lie
