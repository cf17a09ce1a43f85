#include "common/comm/message_file.h"

#include <array>
#include <fstream>
#include <string_view>

#include "common/base/error.h"
#include "common/base/fault.h"
#include "common/comm/wire.h"
#include "common/io/crc32c.h"
#include "common/io/file.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

struct FileHeader {
  std::array<char, 8> magic = {'L', 'I', 'E', 'R', 'E', 'S', 'P', 'S'};
  std::uint32_t version = 2, wire_version = wire::kVersion;
};
static_assert(sizeof(FileHeader) == 16);

struct RecordHeader {
  std::uint32_t header_crc = 0, payload_crc = 0;
};
constexpr std::uint64_t kHeadBytes = sizeof(RecordHeader) + wire::kHeaderBytes;

template <typename T>
std::string_view chars_of(const T& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns why the file cannot be read, judging by its header; empty if it can. The fields of an
/// incomplete header that are missing count as valid.
std::string refusal_of(const FileHeader& found, const fs::path& path) {
  const FileHeader here;
  if (found.magic != here.magic) {
    return fmt::format(
        "{}: is not a file of responses, or has no version; move it away to start a new one",
        path.string());
  }
  if (found.version != here.version || found.wire_version != here.wire_version) {
    return fmt::format(
        "{}: has version {}.{}, but this program reads {}.{}; move it away to start a new one",
        path.string(), found.version, found.wire_version, here.version, here.wire_version);
  }
  return {};
}

class RecordReader {
 public:
  explicit RecordReader(const fs::path& path)
      : path_(path), size_(fs::file_size(path)), file_(path, std::ios::binary) {}

  /// Reads the file's header. Returns whether records may follow.
  bool read_file_header(MessageFileState& state) {
    FileHeader found;  // fields missing in the file keep their valid values
    file_.read(reinterpret_cast<char*>(&found), sizeof found);
    state.refusal = refusal_of(found, path_);
    if (!file_.good() || !state.refusal.empty()) return false;
    state.valid_bytes = sizeof found;
    return true;
  }

  /// Reads the next record. Returns false after the last complete one. Leaves `message` empty if
  /// the record's payload is damaged.
  bool next(MessageFileState& state, Bytes& message) {
    const std::uint64_t left = size_ - state.valid_bytes;
    if (left == 0) return false;
    if (left < kHeadBytes) return end_incomplete(state);
    RecordHeader crc;
    read(&crc, sizeof crc);
    message.resize(wire::kHeaderBytes);
    read(message.data(), message.size());
    if (crc32c(chars_of(message)) != crc.header_crc) return lose_rest(state, "is damaged");
    const std::uint64_t payload = wire::payload_bytes(message);
    if (payload > left - kHeadBytes) return end_incomplete(state);
    message.resize(wire::kHeaderBytes + payload);
    read(message.data() + wire::kHeaderBytes, payload);
    check_payload(state, message, crc);
    state.valid_bytes += kHeadBytes + payload;
    return true;
  }

 private:
  void read(void* into, std::uint64_t bytes) {
    file_.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
    if (!file_) fail("{}: cannot be read to its end", path_.string());
  }

  void check_payload(MessageFileState& state, Bytes& message, RecordHeader crc) const {
    if (crc32c(chars_of(message).substr(wire::kHeaderBytes)) == crc.payload_crc) return;
    state.damage.push_back(fmt::format("{}: the record at byte {} is damaged; its group is lost",
                                       path_.string(), state.valid_bytes));
    message.clear();
  }

  bool end_incomplete(MessageFileState& state) const {
    state.ends_incomplete = true;
    return lose_rest(state, "ends within a record");
  }

  bool lose_rest(MessageFileState& state, std::string_view how) const {
    state.damage.push_back(
        fmt::format("{} {} at byte {}: the rest is lost", path_.string(), how, state.valid_bytes));
    return false;
  }

  fs::path path_;
  std::uint64_t size_;
  std::ifstream file_;
};

}  // namespace

MessageFileState read_messages(const fs::path& path,
                               const std::function<void(std::span<const std::byte>)>& visit) {
  MessageFileState state;
  if (!fs::exists(path)) return state;
  if (!fs::is_regular_file(path)) {
    state.refusal = fmt::format("{}: is not a regular file; move it away", path.string());
    return state;
  }
  RecordReader records(path);
  if (!records.read_file_header(state)) return state;
  for (Bytes message; records.next(state, message);) {
    if (!message.empty()) visit(message);
  }
  return state;
}

MessageFile::MessageFile(const fs::path& path, std::uint64_t valid_bytes)
    : file_(path, OutputFile::Begin::kAtEnd) {
  cut_file(path, valid_bytes);
  const FileHeader header;
  if (valid_bytes == 0) file_.write(chars_of(std::as_bytes(std::span(&header, 1))));
}

void MessageFile::append(std::span<const std::byte> message) {
  const RecordHeader crc{crc32c(chars_of(message.first(wire::kHeaderBytes))),
                         crc32c(chars_of(message.subspan(wire::kHeaderBytes)))};
  std::string record(chars_of(std::as_bytes(std::span(&crc, 1))));
  record.append(chars_of(message));
  write_past_fault_point("journal", record, [this](std::string_view bytes) { file_.write(bytes); });
}

}  // namespace lie
