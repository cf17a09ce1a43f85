// A connection between two ranks of a job apart from MPI, on which a thread of its own can wait and
// the kernel tells of a loss; and how the ranks find each other.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/comm/liveness/rank_watch.h"
#include "common/io/descriptor.h"

namespace lie {

/// What opens every message: bytes from others are ignored.
using JobToken = std::array<unsigned char, 16>;

/// Where rank 0 listens; it reaches all ranks as plain bytes. IPv4 addresses are written as IPv6
/// ones (::ffff:a.b.c.d).
struct MeetingPoint {
  JobToken token = {};
  std::array<unsigned char, 8> name = {};  // of the job, for sockets within a host; no secret
  std::array<in6_addr, 16> addresses = {};
  int address_count = 0;
  std::uint16_t port = 0;  // 0: it cannot listen
};

/// A non-blocking stream of RankNews in both directions. Closed on exec.
class RankLink {
 public:
  RankLink(Descriptor socket, const JobToken& token) : socket_(std::move(socket)), token_(token) {}

  int descriptor() const { return socket_.number(); }
  bool has_unsent() const { return !out_.empty(); }
  /// Texts are cut to the lengths of the wire.
  void send(const RankNews& news);
  /// Sends what the connection takes now.
  void flush();
  /// Takes in what has come.
  void read();
  /// Whether the beginning of a message of this job has come.
  bool speaks() const;
  /// The next message. Afterwards, if there is none: whether the connection is over, and how.
  std::optional<RankNews> next();
  std::optional<Loss> loss() const { return loss_; }
  /// Whether the other side sent what no rank of this job sends.
  bool is_foreign() const { return foreign_; }
  void close() { socket_.close(); }

  int peer = -1;  // its rank; -1: it has not said so

 private:
  Descriptor socket_;
  JobToken token_;
  std::string in_, out_;
  std::optional<Loss> loss_;
  bool foreign_ = false;
};

/// Random token and name, no addresses yet.
MeetingPoint make_meeting_point();

/// Listens on all addresses of this host, IPv4 and IPv6, at a port of the system's choice, and
/// writes them into `point`. Throws Error.
Descriptor listen_to_hosts(MeetingPoint& point);
/// Waits up to `milliseconds` for a connection, or until `wake` is readable. Closed: none.
Descriptor connect_to_host(const MeetingPoint& point, int address, int milliseconds, int wake);

/// Within a host, under the job's name. Closed: another process of this host listens already.
Descriptor listen_to_neighbours(const MeetingPoint& point, std::string_view host);
/// Closed: nobody listens yet.
Descriptor connect_to_neighbour(const MeetingPoint& point, std::string_view host);

/// The next connection that waits at a listener. Closed: none; a full table of descriptors is an
/// Error.
Descriptor accept_link(const Descriptor& listener);

/// Whether a descriptor becomes readable (or, if asked, writable), or `wake` readable, within the
/// time.
bool wait_for_link(int descriptor, bool writable, int milliseconds, int wake);

}  // namespace lie
