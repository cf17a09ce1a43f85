// How the ranks of a job find each other without MPI: rank 0 and the first rank of each host
// listen, the others connect to them.
#pragma once

#include <netinet/in.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "common/io/descriptor.h"

namespace lie {

/// Begins every message. Bytes from other senders are ignored.
using JobToken = std::array<unsigned char, 16>;

/// The addresses at which rank 0 listens. They are sent to all ranks as plain bytes. IPv4 addresses
/// are stored as IPv6 addresses (::ffff:a.b.c.d).
struct Rendezvous {
  JobToken token = {};
  // name of the job, for sockets within a host; not a secret
  std::array<unsigned char, 8> name = {};
  std::array<in6_addr, 16> addresses = {};
  int address_count = 0;
  std::uint16_t port = 0;  // 0: rank 0 cannot listen
};

/// Returns a rendezvous with a random token and name and without addresses.
Rendezvous make_rendezvous();

/// Listens on all addresses of this host, IPv4 and IPv6, at a port that the system chooses. Writes
/// addresses and port into `rendezvous`. Throws Error.
Descriptor listen_to_hosts(Rendezvous& rendezvous);
/// Waits up to `milliseconds` for a connection, or until `wake` is readable. Returns a closed
/// descriptor if there is none.
Descriptor connect_to_host(const Rendezvous& rendezvous, int address, int milliseconds, int wake);

/// Listens for ranks of the same host, under the job's name. Returns a closed descriptor if another
/// process of this host already listens.
Descriptor listen_to_neighbors(const Rendezvous& rendezvous, std::string_view host);
/// Connects to the listening rank of this host. Returns a closed descriptor if no rank listens yet.
Descriptor connect_to_neighbor(const Rendezvous& rendezvous, std::string_view host);

/// Returns the next connection that waits at a listener. If there is none or it cannot be opened,
/// returns a closed descriptor and sets errno.
Descriptor accept_link(const Descriptor& listener);

/// Waits up to `milliseconds`. Returns true if the descriptor becomes readable (or writable, if
/// `writable`), and false if the time ends or `wake` becomes readable.
bool wait_for_link(int descriptor, bool writable, int milliseconds, int wake);

}  // namespace lie
