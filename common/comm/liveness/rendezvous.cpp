#include "common/comm/liveness/rendezvous.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "common/base/error.h"

namespace lie {
namespace {

// An unresponsive host counts as lost after 15 to 25 s. The kernel sends probes every 5 s,
// independently of what the process does.
constexpr int kProbeInterval_seconds = 5;
constexpr int kProbes = 4;
constexpr int kUnresponsiveAfter_milliseconds = 20'000;

void set(const Descriptor& socket, int level, int option, int value) {
  ::setsockopt(socket.number(), level, option, &value, sizeof value);
}

void enable_keepalive(const Descriptor& socket) {
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kProbeInterval_seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kProbeInterval_seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, kUnresponsiveAfter_milliseconds);
}

Descriptor open_socket(int family) {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// An address of either family, as system calls expect it.
struct Address {
  sockaddr_storage bytes = {};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
};

template <typename T>
Address address_of(const T& particular, std::size_t length = sizeof(T)) {
  Address address;
  std::memcpy(&address.bytes, &particular, length);
  address.length = static_cast<socklen_t>(length);
  return address;
}

Address internet_address(const in6_addr& address, std::uint16_t port) {
  sockaddr_in6 six = {};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  six.sin6_addr = address;
  if (!IN6_IS_ADDR_V4MAPPED(&address)) return address_of(six);
  sockaddr_in four = {};
  four.sin_family = AF_INET;
  four.sin_port = six.sin6_port;
  std::memcpy(&four.sin_addr, address.s6_addr + 12, 4);
  return address_of(four);
}

in6_addr mapped(const in_addr& four) {
  in6_addr address = {};
  address.s6_addr[10] = address.s6_addr[11] = 0xff;
  std::memcpy(address.s6_addr + 12, &four, 4);
  return address;
}

/// Returns an address in the abstract socket namespace, which is not visible in file systems or
/// from other hosts.
Address host_socket_address(const Rendezvous& rendezvous, std::string_view host) {
  std::string name = "lie-";
  for (const unsigned char byte : rendezvous.name) name += fmt::format("{:02x}", byte);
  name += fmt::format("-{}", host.substr(0, 64));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  return address_of(address, offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

void add_address(Rendezvous& rendezvous, const in6_addr& address) {
  const auto count = static_cast<std::size_t>(rendezvous.address_count);
  if (count == rendezvous.addresses.size()) return;
  rendezvous.addresses[count] = address;
  ++rendezvous.address_count;
}

/// Skips link-local addresses, which are incomplete without the name of an interface.
void add_address(Rendezvous& rendezvous, const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    add_address(rendezvous, mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr));
  } else if (address.sa_family == AF_INET6) {
    const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (!IN6_IS_ADDR_LINKLOCAL(&six)) add_address(rendezvous, six);
  }
}

/// Adds the loopback addresses last. They can be needed, because ranks with different host names
/// may share a host.
void add_addresses(Rendezvous& rendezvous) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) fail("cannot list this host's addresses: {}", std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  for (const bool loopback : {false, true}) {
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
      const bool is_up = (each->ifa_flags & IFF_UP) != 0;
      const bool is_loopback = (each->ifa_flags & IFF_LOOPBACK) != 0;
      if (is_up && is_loopback == loopback && each->ifa_addr)
        add_address(rendezvous, *each->ifa_addr);
    }
  }
}

std::uint16_t port_of(const Descriptor& socket) {
  sockaddr_storage bytes = {};
  socklen_t length = sizeof bytes;
  ::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&bytes), &length);
  return ntohs(bytes.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(bytes).sin6_port
                                           : reinterpret_cast<sockaddr_in&>(bytes).sin_port);
}

bool listen_at(const Descriptor& socket, const Address& address) {
  return socket.is_open() && ::bind(socket.number(), address.get(), address.length) == 0 &&
         ::listen(socket.number(), SOMAXCONN) == 0;
}

Descriptor closed() { return Descriptor(); }

}  // namespace

Rendezvous make_rendezvous() {
  Rendezvous rendezvous;
  for (const std::span<unsigned char> part :
       {std::span<unsigned char>(rendezvous.token), std::span<unsigned char>(rendezvous.name)}) {
    if (::getrandom(part.data(), part.size(), 0) != static_cast<ssize_t>(part.size())) {
      fail("cannot get random numbers from the system: {}", std::strerror(errno));
    }
  }
  return rendezvous;
}

Descriptor listen_to_hosts(Rendezvous& rendezvous) {
  Descriptor socket = open_socket(AF_INET6);
  if (socket.is_open()) set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (!listen_at(socket, internet_address(in6addr_any, 0))) {  // the system has no IPv6
    socket = open_socket(AF_INET);
    if (!listen_at(socket, internet_address(mapped({}), 0))) {
      fail("cannot listen on this host: {}", std::strerror(errno));
    }
  }
  add_addresses(rendezvous);
  rendezvous.port = port_of(socket);
  return socket;
}

Descriptor connect_to_host(const Rendezvous& rendezvous, int address, int milliseconds, int wake) {
  const Address where =
      internet_address(rendezvous.addresses.at(static_cast<std::size_t>(address)), rendezvous.port);
  Descriptor socket = open_socket(where.bytes.ss_family);
  if (!socket.is_open()) return closed();
  enable_keepalive(socket);
  if (::connect(socket.number(), where.get(), where.length) == 0) return socket;
  if (errno != EINPROGRESS || !wait_for_link(socket.number(), true, milliseconds, wake)) {
    return closed();
  }
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &length);
  return error == 0 ? std::move(socket) : closed();
}

Descriptor listen_to_neighbors(const Rendezvous& rendezvous, std::string_view host) {
  Descriptor socket = open_socket(AF_UNIX);
  return listen_at(socket, host_socket_address(rendezvous, host)) ? std::move(socket) : closed();
}

Descriptor connect_to_neighbor(const Rendezvous& rendezvous, std::string_view host) {
  Descriptor socket = open_socket(AF_UNIX);
  const Address where = host_socket_address(rendezvous, host);
  const bool connected =
      socket.is_open() && ::connect(socket.number(), where.get(), where.length) == 0;
  return connected ? std::move(socket) : closed();
}

Descriptor accept_link(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) enable_keepalive(socket);
  return socket;
}

bool wait_for_link(int descriptor, bool writable, int milliseconds, int wake) {
  std::array<pollfd, 2> both = {
      {{descriptor, static_cast<short>(writable ? POLLOUT : POLLIN), 0}, {wake, POLLIN, 0}}};
  ::poll(both.data(), both.size(), milliseconds);
  return both[0].revents != 0 && both[1].revents == 0;
}

}  // namespace lie
