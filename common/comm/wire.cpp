#include "common/comm/wire.h"

#include <bit>
#include <concepts>
#include <cstring>
#include <string>
#include <type_traits>

#include "common/base/error.h"

namespace lie::wire {
namespace {

static_assert(std::endian::native == std::endian::little,
              "messages are the memory of little-endian ranks");

template <typename T>
concept Plain = std::is_arithmetic_v<T>;

// The description of each message. Writer writes and Reader reads the fields in this order.

void fields(auto& io, Prompt& p) {
  io(p.problem, p.text, p.gold, p.data_source, p.reference_length, p.row);
}
void fields(auto& io, SampleRange& r) { io(r.first, r.count); }
void fields(auto& io, VersionRun& r) { io(r.policy_version, r.tokens); }
void fields(auto& io, Ticket& t) {
  io(t.step, t.group, t.policy_version);
  io.choice(t.purpose, Purpose::kEvaluate);
  io(t.samples, t.prompt, t.fragment, t.planned);
}

void fields(auto& io, TicketRequest& r) { io(r.free_slots, r.spare); }
void fields(auto& io, Assignment& a) {
  io.choice(a.kind, Assignment::Kind::kFinish);
  io(a.tickets);
}

void fields(auto& io, Response& r) {
  io(r.ids, r.behavior_log_probs);
  io.choice(r.finish, FinishReason::kLength);
  io(r.actor, r.versions);
}

void fields(auto& io, RoleClock& c) { io(c.busy_seconds, c.idle_seconds); }
void fields(auto& io, ActorClock& a) { io(a.actor, a.clock); }
void fields(auto& io, RolloutGroup& g) {
  io(g.ticket, g.prompt_ids, g.responses, g.prompt_tokens_dropped, g.actor_clocks);
}
void fields(auto& io, NamedNumber& n) { io(n.name, n.value); }
void fields(auto& io, Coverage& c) { io(c.distinct_ngrams, c.ngrams, c.largest_repeat); }
void fields(auto& io, Score& s) {
  io.choice(s.verdict, kLastVerdict);
  io(s.verify_seconds, s.target_length, s.rewards, s.numbers, s.coverage, s.extracted);
}

void fields(auto& io, ScoredGroup& g) {
  io(g.rollout, g.scores, g.texts, g.reward_worker, g.reward_clock);
}

/// Passes the values of a message to Io::raw(data, bytes) and Io::count(elements, element_bytes),
/// which returns the number of elements: Writer's argument, or what Reader has read.
template <typename Io>
class Values {
 public:
  void operator()(auto&... values) { (value(values), ...); }
  template <typename Enum>
  void choice(Enum& chosen, Enum last) {
    io().raw(&chosen, sizeof chosen);
    if (chosen <= last) return;
    fail("message: {}, but a value up to {} was expected: the message is damaged",
         static_cast<int>(chosen), static_cast<int>(last));
  }

 private:
  Io& io() { return static_cast<Io&>(*this); }
  void value(Plain auto& number) { io().raw(&number, sizeof number); }
  void value(std::string& text) {
    text.resize(io().count(text.size(), 1));
    io().raw(text.data(), text.size());
  }
  template <Plain T>
  void value(std::vector<T>& numbers) {
    numbers.resize(io().count(numbers.size(), sizeof(T)));
    io().raw(numbers.data(), numbers.size() * sizeof(T));
  }
  template <typename T>
  void value(std::vector<T>& items) {
    constexpr std::size_t kSmallestItem = 8;  // every struct and string holds at least one u64
    items.resize(io().count(items.size(), kSmallestItem));
    for (T& item : items) value(item);
  }
  void value(auto& item) { fields(*this, item); }
};

/// Writes values to a buffer that is large enough. With a null buffer it only counts the bytes.
class Writer : public Values<Writer> {
 public:
  explicit Writer(std::byte* into) : into_(into) {}
  void raw(const void* data, std::size_t size) {
    if (into_ != nullptr && size > 0) std::memcpy(into_ + written_, data, size);
    written_ += size;
  }
  std::size_t count(std::uint64_t elements, std::size_t /*element_bytes*/) {
    raw(&elements, sizeof elements);
    return elements;
  }
  std::size_t written() const { return written_; }

 private:
  std::byte* into_;
  std::size_t written_ = 0;
};

/// Reads values from bytes and checks that enough bytes are left.
class Reader : public Values<Reader> {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  void raw(void* into, std::size_t size) {
    if (size > bytes_.size()) {
      fail("message: truncated: {} bytes expected, {} left", size, bytes_.size());
    }
    if (size > 0) std::memcpy(into, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
  }
  std::size_t count(std::uint64_t elements, std::size_t element_bytes) {
    raw(&elements, sizeof elements);
    if (elements > bytes_.size() / element_bytes) {
      fail("message: truncated: {} elements announced, {} bytes left", elements, bytes_.size());
    }
    return elements;
  }
  void expect_end() const {
    if (!bytes_.empty()) fail("message: {} bytes too many: the message is damaged", bytes_.size());
  }

 private:
  std::span<const std::byte> bytes_;
};

template <typename T>
constexpr Kind kind_of() {
  if constexpr (std::same_as<T, TicketRequest>) return Kind::kTicketRequest;
  if constexpr (std::same_as<T, Assignment>) return Kind::kAssignment;
  if constexpr (std::same_as<T, RolloutGroup>) return Kind::kRolloutGroup;
  if constexpr (std::same_as<T, ScoredGroup>) return Kind::kScoredGroup;
  if constexpr (std::same_as<T, std::vector<ScoredGroup>>) return Kind::kScoredGroups;
  return Kind::kRolloutGroups;
}

struct Header {
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  Kind kind = Kind::kClose;
  std::uint64_t payload_bytes = 0;
};
static_assert(sizeof(Header) == kHeaderBytes);

void write_header(Bytes& message, Kind kind) {
  const Header header{.kind = kind, .payload_bytes = message.size() - kHeaderBytes};
  std::memcpy(message.data(), &header, kHeaderBytes);
}

/// Reads the header and checks the fields that do not depend on the kind.
Header read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) {
    fail("message: {} bytes, but the header alone has {}", bytes.size(), kHeaderBytes);
  }
  Header header;
  std::memcpy(&header, bytes.data(), kHeaderBytes);
  if (header.magic != kMagic)
    fail("message: does not begin with \"LIEW\": it is not from this program");
  if (header.version != kVersion) {
    fail("message: wire version {}, but this rank has {}: start all ranks from one build",
         header.version, kVersion);
  }
  if (header.payload_bytes != bytes.size() - kHeaderBytes) {
    fail("message: {} bytes of payload, but the header announces {}", bytes.size() - kHeaderBytes,
         header.payload_bytes);
  }
  return header;
}

}  // namespace

template <typename T>
Bytes pack(const T& value) {
  // The description is shared with Reader, so it takes mutable references. Writer changes nothing.
  T& fields_of = const_cast<T&>(value);
  Writer counter(nullptr);
  counter(fields_of);
  Bytes message(kHeaderBytes + counter.written());
  Writer writer(message.data() + kHeaderBytes);
  writer(fields_of);
  write_header(message, kind_of<T>());
  return message;
}

template <typename T>
T unpack(std::span<const std::byte> bytes) {
  const Header header = read_header(bytes);
  if (header.kind != kind_of<T>()) {
    fail("message: kind {}, but {} was expected", static_cast<int>(header.kind),
         static_cast<int>(kind_of<T>()));
  }
  T value;
  Reader reader(bytes.subspan(kHeaderBytes));
  reader(value);
  reader.expect_end();
  return value;
}

std::uint64_t payload_bytes(std::span<const std::byte> header) {
  Header read;
  std::memcpy(&read, header.first(kHeaderBytes).data(), kHeaderBytes);
  return read.payload_bytes;
}

Bytes pack_close() {
  Bytes message(kHeaderBytes);
  write_header(message, Kind::kClose);
  return message;
}

bool is_close(std::span<const std::byte> bytes) { return read_header(bytes).kind == Kind::kClose; }

template Bytes pack(const TicketRequest&);
template Bytes pack(const Assignment&);
template Bytes pack(const RolloutGroup&);
template Bytes pack(const ScoredGroup&);
template Bytes pack(const std::vector<RolloutGroup>&);
template Bytes pack(const std::vector<ScoredGroup>&);
template TicketRequest unpack(std::span<const std::byte>);
template Assignment unpack(std::span<const std::byte>);
template RolloutGroup unpack(std::span<const std::byte>);
template ScoredGroup unpack(std::span<const std::byte>);
template std::vector<RolloutGroup> unpack(std::span<const std::byte>);
template std::vector<ScoredGroup> unpack(std::span<const std::byte>);

}  // namespace lie::wire
