#include "tests/fuzz/file_bodies.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "common/comm/message_file.h"
#include "common/comm/wire.h"
#include "tests/fuzz/input.h"

namespace lie::fuzz {
namespace {

template <typename T>
void unpack_again(std::span<const std::byte> bytes) {
  read_or_refused([&] {
    const Bytes again = wire::pack(wire::unpack<T>(bytes));
    if (!std::ranges::equal(again, bytes)) std::abort();
  });
}

/// Reads the message by the reader of the kind in its header. All other readers would refuse it.
void unpack_any(std::span<const std::byte> bytes) {
  std::uint16_t kind = 0;
  if (bytes.size() >= wire::kHeaderBytes) std::memcpy(&kind, bytes.data() + 6, sizeof kind);
  switch (static_cast<wire::Kind>(kind)) {
    case wire::Kind::kAssignment: return unpack_again<Assignment>(bytes);
    case wire::Kind::kRolloutGroup: return unpack_again<RolloutGroup>(bytes);
    case wire::Kind::kScoredGroup: return unpack_again<ScoredGroup>(bytes);
    case wire::Kind::kScoredGroups: return unpack_again<std::vector<ScoredGroup>>(bytes);
    case wire::Kind::kRolloutGroups: return unpack_again<std::vector<RolloutGroup>>(bytes);
    default: return unpack_again<TicketRequest>(bytes);
  }
}

}  // namespace

void wire_body(std::string_view input) { unpack_any(std::as_bytes(std::span(input))); }

void message_file_body(std::string_view input) {
  const std::filesystem::path path = file_with("messages", input);
  read_or_refused([&] { read_messages(path, unpack_any); });
}

}  // namespace lie::fuzz
