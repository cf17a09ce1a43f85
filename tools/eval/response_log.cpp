#include "tools/eval/response_log.h"

#include <cstring>
#include <span>
#include <utility>

#include "common/comm/wire.h"
#include "common/error.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// The header's payload size; see the layout in common/comm/wire.h.
std::uint64_t payload_bytes(std::span<const std::byte> header, const fs::path& path) {
  std::uint32_t magic = 0;
  std::uint64_t bytes = 0;
  std::memcpy(&magic, header.data(), sizeof magic);
  std::memcpy(&bytes, header.data() + 8, sizeof bytes);
  if (magic != wire::kMagic) {
    fail("{}: is no file of responses, or damaged; move it away to begin anew", path.string());
  }
  return bytes;
}

RolloutGroup unpack(const Bytes& message, const fs::path& path) {
  try {
    return wire::unpack<RolloutGroup>(message);
  } catch (const Error& error) {
    fail("{}: {}; move it away to begin anew", path.string(), error.what());
  }
}

}  // namespace

std::uint64_t read_responses(const fs::path& path, const std::function<void(RolloutGroup)>& visit) {
  if (!fs::exists(path)) return 0;
  const std::uint64_t size = fs::file_size(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read {}", path.string());
  std::uint64_t at = 0;
  Bytes message(wire::kHeaderBytes);
  while (size - at >= wire::kHeaderBytes) {
    message.resize(wire::kHeaderBytes);
    file.read(reinterpret_cast<char*>(message.data()), wire::kHeaderBytes);
    const std::uint64_t payload = payload_bytes(message, path);
    if (payload > size - at - wire::kHeaderBytes) break;
    message.resize(wire::kHeaderBytes + payload);
    file.read(reinterpret_cast<char*>(message.data() + wire::kHeaderBytes),
              static_cast<std::streamsize>(payload));
    if (!file) fail("{}: cannot be read to its end", path.string());
    visit(unpack(message, path));
    at += message.size();
  }
  return at;
}

ResponseLog::ResponseLog(fs::path path, std::uint64_t whole_bytes) : path_(std::move(path)) {
  if (fs::exists(path_)) fs::resize_file(path_, whole_bytes);
  file_.open(path_, std::ios::binary | std::ios::app);
  if (!file_) fail("cannot write {}; check space and rights", path_.string());
}

void ResponseLog::append(const RolloutGroup& group) {
  const Bytes message = wire::pack(group);
  file_.write(reinterpret_cast<const char*>(message.data()),
              static_cast<std::streamsize>(message.size()));
  file_.flush();
  if (!file_) fail("cannot write {}; check space and rights", path_.string());
}

}  // namespace lie
