// A connection between two ranks that does not use MPI, so that a separate thread can wait on it
// and the kernel reports a loss.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "common/comm/liveness/rank_watch.h"
#include "common/comm/liveness/rendezvous.h"
#include "common/io/descriptor.h"

namespace lie {

/// A non-blocking stream of RankNews in both directions. Its descriptor is closed on exec.
class RankLink {
 public:
  RankLink(Descriptor socket, const JobToken& token) : socket_(std::move(socket)), token_(token) {}

  int descriptor() const { return socket_.number(); }
  bool has_unsent() const { return !out_.empty(); }
  /// Queues a message. Texts are cut to the field lengths of the wire format.
  void send(const RankNews& news);
  /// Sends as much as the connection accepts without blocking.
  void flush();
  void read();
  /// Returns whether the received bytes begin with this job's token.
  bool has_token() const;
  /// Returns the next message. If there is none, loss() and is_foreign() say whether the connection
  /// has ended, and how.
  std::optional<RankNews> next();
  std::optional<Loss> loss() const { return loss_; }
  /// Returns whether the other side sent bytes that no rank of this job sends.
  bool is_foreign() const { return foreign_; }
  void close() { socket_.close(); }

  int peer = -1;  // rank at the other end; -1: unknown
  bool is_unknown() const { return peer < 0; }
  const std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();

 private:
  Descriptor socket_;
  JobToken token_;
  std::string in_, out_;
  std::optional<Loss> loss_;
  bool foreign_ = false;
};

}  // namespace lie
