#include "tools/eval/response_log.h"

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "common/comm/wire.h"
#include "common/error.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

struct LogHeader {
  std::array<char, 8> magic = {'L', 'I', 'E', 'R', 'E', 'S', 'P', 'S'};
  std::uint32_t version = kResponseLogVersion;
  std::uint32_t wire_version = wire::kVersion;
};
static_assert(sizeof(LogHeader) == 16);

/// Reads the file's header; false if a killed process left it incomplete.
bool read_header(std::istream& file, const fs::path& path) {
  LogHeader found;  // what an incomplete header lacks is taken as right
  file.read(reinterpret_cast<char*>(&found), sizeof found);
  const LogHeader here;
  if (found.magic != here.magic) {
    fail("{}: is no file of responses, or one without a version; move it away to begin anew",
         path.string());
  }
  if (found.version != here.version || found.wire_version != here.wire_version) {
    fail("{}: has version {}.{}, here it is {}.{}; move it away to begin anew", path.string(),
         found.version, found.wire_version, here.version, here.wire_version);
  }
  return file.good();
}

/// The payload size in a message's header; see the layout in common/comm/wire.h.
std::uint64_t payload_bytes(std::span<const std::byte> header, const fs::path& path) {
  std::uint32_t magic = 0;
  std::uint64_t bytes = 0;
  std::memcpy(&magic, header.data(), sizeof magic);
  std::memcpy(&bytes, header.data() + 8, sizeof bytes);
  if (magic != wire::kMagic) fail("{}: is damaged; move it away to begin anew", path.string());
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
  if (!read_header(file, path)) return 0;
  std::uint64_t at = sizeof(LogHeader);
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
  const LogHeader header;
  if (whole_bytes == 0) write(std::as_bytes(std::span(&header, 1)));
}

void ResponseLog::append(const RolloutGroup& group) { write(wire::pack(group)); }

void ResponseLog::write(std::span<const std::byte> bytes) {
  file_.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  file_.flush();
  if (!file_) fail("cannot write {}; check space and rights", path_.string());
}

}  // namespace lie
