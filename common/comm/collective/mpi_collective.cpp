#include "common/comm/collective/mpi_collective.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/comm/mailbox.h"
#include "common/comm/tree.h"

namespace lie {

namespace {

constexpr std::size_t kBroadcastChunkBytes = std::size_t{1} << 20;
// largest share of one member in a block
constexpr std::int64_t kPartBytes = std::int64_t{1} << 20;
constexpr std::size_t kMaxChunksInFlight = 8;  // chunks in flight per child
constexpr std::string_view kMpiGroup = "a group over MPI";

std::shared_ptr<const Bytes> copy_of(std::span<const std::byte> bytes) {
  return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
}

std::int64_t part_elements(DType dtype) { return kPartBytes / dtype_bytes(dtype); }

class MpiCollective : public Collective {
 public:
  MpiCollective(Job& job, std::vector<int> members, Tag tag)
      : job_(job), outbox_(job), members_(std::move(members)), tag_(tag) {
    const auto me = std::find(members_.begin(), members_.end(), job.rank());
    if (me == members_.end()) fail("rank {} joined a group that it is not a member of", job.rank());
    rank_ = static_cast<int>(me - members_.begin());
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void broadcast_bytes(std::span<std::byte> bytes, int root) override;
  void broadcast(DeviceSpan values, int root) override {
    broadcast_bytes(host_bytes(values, kMpiGroup), root);
  }
  void all_reduce_sum(DeviceSpan values) override;
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override;

 private:
  /// The spans of a block that each member adds, by member.
  using Parts = std::vector<std::span<std::byte>>;

  void send(int member, std::shared_ptr<const Bytes> bytes) {
    outbox_.post(members_[static_cast<std::size_t>(member)], tag_, std::move(bytes));
  }
  void receive(int member, std::span<std::byte> bytes) {
    receive_into(job_, members_[static_cast<std::size_t>(member)], tag_, bytes);
  }
  std::size_t me() const { return static_cast<std::size_t>(rank_); }
  Parts near_equal_parts(DeviceSpan block) const;
  void reduce_parts(const Parts& parts, std::span<std::byte> sum, DType dtype);
  template <typename T>
  void add_in_rank_order(std::span<std::byte> own, std::span<std::byte> sum);
  void gather_parts(const Parts& parts);

  Job& job_;
  Outbox outbox_;
  std::vector<int> members_;
  Tag tag_;
  int rank_ = 0;
};

void MpiCollective::broadcast_bytes(std::span<std::byte> bytes, int root) {
  if (root < 0 || root >= size()) fail("broadcast from member {} of a group of {}", root, size());
  const TreePlace place = tree_place(rank_, size(), root);
  for (std::size_t done = 0; done < bytes.size(); done += kBroadcastChunkBytes) {
    const auto chunk = bytes.subspan(done, std::min(kBroadcastChunkBytes, bytes.size() - done));
    if (place.parent >= 0) receive(place.parent, chunk);
    if (place.children.empty()) continue;
    outbox_.drain(kMaxChunksInFlight);
    const auto copy = copy_of(chunk);
    for (const int child : place.children) send(child, copy);
  }
  outbox_.drain(0);
}

MpiCollective::Parts MpiCollective::near_equal_parts(DeviceSpan block) const {
  Parts parts;
  for (std::int64_t i = 0; i < size(); ++i) {
    const std::int64_t begin = block.count * i / size(), end = block.count * (i + 1) / size();
    parts.push_back(host_bytes(block.part(begin, end - begin), kMpiGroup));
  }
  return parts;
}

void MpiCollective::all_reduce_sum(DeviceSpan values) {
  const std::int64_t most = part_elements(values.dtype) * size();
  for (std::int64_t done = 0; done < values.count; done += most) {
    const Parts parts = near_equal_parts(values.part(done, std::min(most, values.count - done)));
    reduce_parts(parts, parts[me()], values.dtype);
    gather_parts(parts);
    outbox_.drain(0);
  }
}

void MpiCollective::exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) {
  check_exchange(*this, out, in);
  const auto others = [&](std::span<const DeviceSpan> spans, const auto& use) {
    for (int member = 0; member < size(); ++member) {
      const auto bytes = host_bytes(spans[static_cast<std::size_t>(member)], kMpiGroup);
      if (member != rank_ && !bytes.empty()) use(member, bytes);
    }
  };
  others(out, [&](int member, std::span<std::byte> bytes) { send(member, copy_of(bytes)); });
  others(in, [&](int member, std::span<std::byte> bytes) { receive(member, bytes); });
  if (in[me()].data != out[me()].data) {
    std::ranges::copy(host_bytes(out[me()], kMpiGroup), host_bytes(in[me()], kMpiGroup).begin());
  }
  outbox_.drain(0);
}

/// Sends every part to the member that adds it. Writes the sum of this member's part to `sum`.
void MpiCollective::reduce_parts(const Parts& parts, std::span<std::byte> sum, DType dtype) {
  check_host_sum(dtype, kMpiGroup);
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) send(member, copy_of(parts[static_cast<std::size_t>(member)]));
  }
  if (dtype == DType::kFloat64) {
    add_in_rank_order<double>(parts[me()], sum);
  } else {
    add_in_rank_order<float>(parts[me()], sum);
  }
}

/// Adds all members' values of this member's part in rank order, beginning with member 0's.
template <typename T>
void MpiCollective::add_in_rank_order(std::span<std::byte> own, std::span<std::byte> sum) {
  const std::size_t count = own.size() / sizeof(T);
  std::vector<T> added(count), theirs(count);
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) receive(member, std::as_writable_bytes(std::span(theirs)));
    const T* values = member == rank_ ? reinterpret_cast<const T*>(own.data()) : theirs.data();
    if (member == 0) {
      std::copy_n(values, count, added.begin());
    } else {
      for (std::size_t i = 0; i < count; ++i) added[i] += values[i];
    }
  }
  std::ranges::copy(std::as_bytes(std::span(added)), sum.begin());
}

/// Sends this member's sums to all others and receives theirs.
void MpiCollective::gather_parts(const Parts& parts) {
  const auto own = copy_of(parts[me()]);
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) send(member, own);
  }
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) receive(member, parts[static_cast<std::size_t>(member)]);
  }
}

}  // namespace

std::unique_ptr<Collective> mpi_collective(Job& job, std::vector<int> members, Tag tag) {
  if (members.size() == 1 && members.front() == job.rank()) return solo_collective();
  return std::make_unique<MpiCollective>(job, std::move(members), tag);
}

std::unique_ptr<Collective> world_collective(Job& job) {
  std::vector<int> all(static_cast<std::size_t>(job.size()));
  std::iota(all.begin(), all.end(), 0);
  return mpi_collective(job, std::move(all), Tag::kWorldGroup);
}

namespace {

constexpr Tag kTag = Tag::kWorldGroup;

/// Precedes each text in a message.
struct Label {
  std::uint32_t rank = 0, bytes = 0;
};

std::span<std::byte> bytes_of(std::uint64_t& size) {
  return std::as_writable_bytes(std::span(&size, 1));
}

std::string labeled(int rank, std::string_view text) {
  const Label label{static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(text.size())};
  std::string labeled(sizeof label, '\0');
  std::memcpy(labeled.data(), &label, sizeof label);
  return labeled.append(text);
}

std::string receive_text(Job& job, int source) {
  std::uint64_t size = 0;
  receive_into(job, source, kTag, bytes_of(size));
  std::string text(size, '\0');
  receive_into(job, source, kTag, std::as_writable_bytes(std::span(text)));
  return text;
}

void send_text(Outbox& outbox, int destination, std::string_view text) {
  std::uint64_t size = text.size();
  for (const auto& bytes :
       {std::span<const std::byte>(bytes_of(size)), std::as_bytes(std::span(text))}) {
    outbox.post(destination, kTag, std::make_shared<const Bytes>(bytes.begin(), bytes.end()));
  }
  outbox.drain(0);
}

std::vector<std::string> by_rank(std::string_view texts, int ranks) {
  std::vector<std::string> sorted(static_cast<std::size_t>(ranks));
  while (!texts.empty()) {
    Label label;
    std::memcpy(&label, texts.data(), sizeof label);
    sorted[label.rank] = texts.substr(sizeof label, label.bytes);
    texts.remove_prefix(sizeof label + label.bytes);
  }
  return sorted;
}

}  // namespace

std::vector<std::string> gather_texts(Job& job, std::string_view mine) {
  const TreePlace place = tree_place(job.rank(), job.size());
  std::string texts = labeled(job.rank(), mine);
  for (const int child : place.children) texts += receive_text(job, child);
  Outbox outbox(job);
  if (place.parent >= 0) send_text(outbox, place.parent, texts);
  broadcast_values(*world_collective(job), texts);
  return by_rank(texts, job.size());
}

}  // namespace lie
