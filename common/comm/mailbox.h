// Messages of bytes between ranks, without blocking: the base of channels, tickets and collectives.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "common/comm/environment.h"
#include "common/comm/job.h"

namespace lie {

/// What a message belongs to. Each flow between ranks has one tag of its own for the whole run: a
/// receiver takes in all messages of its tag as they come, so a second flow of the same tag would
/// lose its first messages to the one before it.
enum class Tag : int {
  kFarewell = 1,
  kRollouts = 2,           // RolloutGroup: actors to reward workers
  kScored = 3,             // ScoredGroup: reward workers to learner 0
  kTicketRequest = 4,      // TicketRequest: actor to learner 0
  kTicketAnswer = 5,       // Assignment: learner 0 to actor
  kWorldGroup = 6,         // collective over all ranks
  kWeightGroup = 7,        // collective over learner 0 and the actors
  kLearnerGroup = 8,       // collective over the learners
  kSharedPolicyGroup = 9,  // collective over the learners and the actors, at the start
  kFirstFree = 16,         // tests
};

struct Message {
  int source = 0;  // world rank
  Bytes bytes;
};

/// Messages on their way out. Their buffers live until MPI is done with them.
class Outbox {
 public:
  explicit Outbox(Job& job) : job_(job) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Starts a send; returns at once. Throws Error above 2 GiB.
  void post(int destination, Tag tag, std::shared_ptr<const Bytes> bytes);
  /// Frees the buffers of finished sends; returns how many messages are still on their way.
  std::size_t pending();
  /// Waits, attending, until at most `limit` messages are on their way.
  void drain(std::size_t limit);

 private:
  struct Send {
    std::shared_ptr<const Bytes> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  Job& job_;
  std::deque<Send> sends_;
};

/// Messages of one tag that arrive at this rank, of any source, in the order they came; those of
/// one source in the order they were sent. Takes messages in whenever the rank waits for anything.
class Inbox : public Progressing {
 public:
  Inbox(Job& job, Tag tag);
  ~Inbox() override;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void poll_progress() override;
  /// The next message if one is there; never blocks. Throws JobEnding.
  std::optional<Message> try_take();
  /// The next message; waits, attending.
  Message take();

 private:
  bool start_receive();
  bool finish_receive();

  Job& job_;
  Tag tag_;
  std::deque<Message> arrived_;
  std::optional<Message> incoming_;  // its bytes are being written by MPI
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Receives one message of exactly bytes.size() bytes from `source` into place; waits, attending.
/// Throws Error if a message of another size comes: the ranks disagree on the order of calls.
void receive_into(Job& job, int source, Tag tag, std::span<std::byte> bytes);

}  // namespace lie
