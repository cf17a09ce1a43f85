#include "common/comm/actor_relay.h"

#include <cstddef>
#include <limits>
#include <utility>

#include "common/base/error.h"
#include "common/comm/backoff.h"
#include "common/comm/channel.h"
#include "common/comm/wire.h"

namespace lie {

ActorRelay::ActorRelay(Job& job, int ticket_queue_rank, std::vector<int> receivers)
    : job_(job),
      outgoing_(kQueuedMessages),
      answers_(std::make_shared<BoundedQueue<Assignment>>(1)),
      tickets_(
          [this, ticket_queue_rank](TicketRequest request) {
            outgoing_.send({ticket_queue_rank, Tag::kTicketRequest,
                            std::make_shared<const Bytes>(wire::pack(request))});
          },
          answers_),
      rollouts_(*this, std::move(receivers)),
      outbox_(job),
      inbox_(job, Tag::kTicketAnswer) {
  job_.add(*this);
}

ActorRelay::~ActorRelay() { job_.remove(*this); }

void ActorRelay::Rollouts::send(RolloutGroup group) {
  relay_.outgoing_.send({receiver_of(group, receivers_), Tag::kRollouts,
                         std::make_shared<const Bytes>(wire::pack(group))});
}

void ActorRelay::Rollouts::close() {
  const auto last = std::make_shared<const Bytes>(wire::pack_close());
  for (const int receiver : receivers_) relay_.outgoing_.send({receiver, Tag::kRollouts, last});
  relay_.is_closed_ = true;
}

void ActorRelay::advance() {
  while (const std::optional<Message> answer = inbox_.next_received()) {
    answers_->send(wire::unpack<Assignment>(answer->bytes));
  }
  post_all(kMessagesInFlight);
}

/// Posts the queued messages, as long as at most `most_in_flight` have not been received.
void ActorRelay::post_all(std::size_t most_in_flight) {
  while (outbox_.pending() <= most_in_flight) {
    std::optional<Outgoing> message = outgoing_.try_receive();
    if (!message) return;
    outbox_.post(message->destination, message->tag, std::move(message->bytes));
  }
}

void ActorRelay::finish() {
  for (Backoff backoff; !is_closed_; backoff.pause()) job_.poll_progress();
  post_all(std::numeric_limits<std::size_t>::max());
  outbox_.drain(0);
}

void ActorRelay::poison(std::exception_ptr cause) {
  outgoing_.poison(cause);
  answers_->poison(cause);
}

}  // namespace lie
