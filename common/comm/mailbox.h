// Non-blocking messages of bytes between ranks. Channels, the ticket queue and collectives use
// them.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "common/comm/environment.h"
#include "common/comm/job.h"

namespace lie {

/// Identifies the flow that a message belongs to. Each flow between ranks has its own tag for the
/// whole run. A receiver accepts all messages of its tag as they arrive. A second flow of the same
/// tag would therefore lose its first messages to the earlier flow.
enum class Tag : int {
  kFarewell = 1,
  kRollouts = 2,       // RolloutGroup: actors to reward workers
  kScored = 3,         // ScoredGroup: reward workers to learner 0
  kTicketRequest = 4,  // TicketRequest: actor to learner 0
  kTicketAnswer = 5,   // Assignment: learner 0 to actor
  kWorldGroup = 6,     // collective over all ranks
  kWeightGroup = 7,    // collective over learner 0 and the actors
  kLearnerGroup = 8,   // collective over the learners
  kTexts = 9,          // gather_texts()
  kFirstFree = 16,     // tests
};

struct Message {
  int source = 0;  // world rank
  Bytes bytes;
};

/// Messages that this rank sends. Their buffers live until MPI has finished with them.
class Outbox {
 public:
  explicit Outbox(Job& job) : job_(job) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// Starts a send and returns immediately. Throws Error for messages above 2 GiB.
  void post(int destination, Tag tag, std::shared_ptr<const Bytes> bytes);
  void post(int destination, Tag tag, Bytes bytes) {
    post(destination, tag, std::make_shared<const Bytes>(std::move(bytes)));
  }
  /// Frees the buffers of finished sends. Returns the number of messages in flight.
  std::size_t pending();
  /// Waits until at most `limit` messages are in flight, and polls the job's progress meanwhile.
  void drain(std::size_t limit);

 private:
  struct Send {
    std::shared_ptr<const Bytes> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  Job& job_;
  std::deque<Send> sends_;
};

/// Messages of one tag that arrive at this rank from any source, in order of arrival. Messages of
/// one source keep the order in which they were sent. They are received whenever the rank polls the
/// job's progress.
class Inbox : public Progress {
 public:
  Inbox(Job& job, Tag tag);
  ~Inbox() override;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Receives what has arrived. Never blocks.
  void advance() override;
  /// Returns the next of the messages that advance() has received. Polls nothing.
  std::optional<Message> next_received();
  /// Returns the next message if one has arrived. Never blocks. Throws JobEnding.
  std::optional<Message> try_receive();
  /// Returns the next message. Waits for it, and polls the job's progress meanwhile.
  Message receive();

 private:
  bool start_receive();

  Job& job_;
  Tag tag_;
  std::deque<Message> arrived_;
  std::optional<Message> incoming_;  // MPI is writing its bytes
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Receives one message of exactly bytes.size() bytes from `source` into `bytes`. Waits for it, and
/// polls the job's progress meanwhile. Throws Error if a message of another size arrives, because
/// the ranks then disagree on the order of calls.
void receive_into(Job& job, int source, Tag tag, std::span<std::byte> bytes);

}  // namespace lie
