#include "common/comm/liveness/rank_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace lie {
namespace {

/// A message on the wire. Both ends run the same program. Texts end with a zero byte.
struct Wire {
  JobToken token;
  std::int32_t kind, rank;
  std::array<char, 64> host;
  std::array<char, 48> role;
  std::array<char, 120> activity;
};
static_assert(sizeof(Wire) == 256);

template <std::size_t N>
std::array<char, N> cut(const std::string& text) {
  std::array<char, N> bytes = {};
  std::copy_n(text.begin(), std::min(text.size(), N - 1), bytes.begin());
  return bytes;
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& bytes) {
  return {bytes.data(), ::strnlen(bytes.data(), N)};
}

bool is_kind(int kind) {
  return kind >= static_cast<int>(RankNews::Kind::kRunning) &&
         kind <= static_cast<int>(RankNews::Kind::kOverUnresponsive);
}

}  // namespace

void RankLink::send(const RankNews& news) {
  const Wire wire = {token_,
                     static_cast<std::int32_t>(news.kind),
                     news.rank.rank,
                     cut<64>(news.rank.host),
                     cut<48>(news.rank.role),
                     cut<120>(news.rank.activity)};
  out_.append(reinterpret_cast<const char*>(&wire), sizeof wire);
}

/// A loss is detected by read().
void RankLink::flush() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(descriptor(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0 && errno == EAGAIN) return;
    out_.erase(0, sent < 0 ? out_.size() : static_cast<std::size_t>(sent));
  }
}

void RankLink::read() {
  std::array<char, 4096> bytes;
  while (!loss_ && in_.size() < (1 << 20)) {
    const ssize_t got = ::recv(descriptor(), bytes.data(), bytes.size(), 0);
    if (got > 0) in_.append(bytes.data(), static_cast<std::size_t>(got));
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    if (got < 0 && errno == EAGAIN) return;
    loss_ = got == 0 || errno == ECONNRESET || errno == EPIPE ? Loss::kDied : Loss::kUnresponsive;
  }
}

bool RankLink::has_token() const {
  return in_.size() >= token_.size() && std::memcmp(in_.data(), token_.data(), token_.size()) == 0;
}

std::optional<RankNews> RankLink::next() {
  foreign_ = foreign_ || (in_.size() >= token_.size() && !has_token());
  if (foreign_ || in_.size() < sizeof(Wire)) return std::nullopt;
  Wire wire;
  std::memcpy(&wire, in_.data(), sizeof wire);
  in_.erase(0, sizeof wire);
  foreign_ = !is_kind(wire.kind);
  if (foreign_) return std::nullopt;
  return RankNews{static_cast<RankNews::Kind>(wire.kind),
                  {wire.rank, text_of(wire.host), text_of(wire.role), text_of(wire.activity)}};
}

}  // namespace lie
