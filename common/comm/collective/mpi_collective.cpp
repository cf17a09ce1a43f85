#include "common/comm/collective/mpi_collective.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include "common/base/error.h"
#include "common/comm/mailbox.h"
#include "common/comm/tree.h"

namespace lie {

namespace {

constexpr std::size_t kBroadcastChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxChunksInFlight = 8;  // chunks in flight per child

std::shared_ptr<const Bytes> copy_of(std::span<const std::byte> bytes) {
  return std::make_shared<const Bytes>(bytes.begin(), bytes.end());
}

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
  void exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) override;

 private:
  void send(int member, std::shared_ptr<const Bytes> bytes) {
    outbox_.post(members_[static_cast<std::size_t>(member)], tag_, std::move(bytes));
  }
  void receive(int member, std::span<std::byte> bytes) {
    receive_into(job_, members_[static_cast<std::size_t>(member)], tag_, bytes);
  }

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

void MpiCollective::exchange(std::span<const DeviceSpan> out, std::span<const DeviceSpan> in) {
  check_exchange(*this, out, in);
  const auto others = [&](std::span<const DeviceSpan> spans, const auto& use) {
    for (int member = 0; member < size(); ++member) {
      const auto bytes = host_bytes(spans[static_cast<std::size_t>(member)]);
      if (member != rank_ && !bytes.empty()) use(member, bytes);
    }
  };
  std::span<std::byte> copied;  // a sum has the same bytes for all members
  std::shared_ptr<const Bytes> copy;
  others(out, [&](int member, std::span<std::byte> bytes) {
    const bool is_copied = bytes.data() == copied.data() && bytes.size() == copied.size();
    if (!is_copied) copy = copy_of(copied = bytes);
    send(member, copy);
  });
  others(in, [&](int member, std::span<std::byte> bytes) { receive(member, bytes); });
  const DeviceSpan from = out[static_cast<std::size_t>(rank_)];
  const DeviceSpan to = in[static_cast<std::size_t>(rank_)];
  if (to.data != from.data) std::ranges::copy(host_bytes(from), host_bytes(to).begin());
  outbox_.drain(0);
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

}  // namespace lie
