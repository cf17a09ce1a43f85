#include "common/comm/mpi_collective.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/error.h"

namespace lie {
namespace {

constexpr std::size_t kBroadcastChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kReducePartBytes = std::size_t{1} << 20;  // of one member in one block
constexpr std::size_t kChunksAhead = 8;  // copies of chunks on their way per child

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
  void broadcast(std::span<std::byte> bytes, int root) override;
  void all_reduce_sum(std::span<float> values) override { reduce(values); }
  void all_reduce_sum(std::span<double> values) override { reduce(values); }

 private:
  void send(int member, std::shared_ptr<const Bytes> bytes) {
    outbox_.post(members_[static_cast<std::size_t>(member)], tag_, std::move(bytes));
  }
  void receive(int member, std::span<std::byte> bytes) {
    receive_into(job_, members_[static_cast<std::size_t>(member)], tag_, bytes);
  }
  template <typename T>
  void reduce(std::span<T> values);
  template <typename T>
  void reduce_block(std::span<T> block);
  template <typename T>
  void sum_own_part(std::span<T> part);

  Job& job_;
  Outbox outbox_;
  std::vector<int> members_;
  Tag tag_;
  int rank_ = 0;
};

/// Position in the binary tree whose root is member `root`: node i has children 2i+1 and 2i+2.
struct TreePlace {
  int parent = -1;  // members; -1: none
  std::vector<int> children;
};

TreePlace tree_place(int rank, int size, int root) {
  const auto member = [&](int node) { return (node + root) % size; };
  const int node = (rank - root + size) % size;
  TreePlace place;
  if (node > 0) place.parent = member((node - 1) / 2);
  for (int child = 2 * node + 1; child <= 2 * node + 2 && child < size; ++child) {
    place.children.push_back(member(child));
  }
  return place;
}

void MpiCollective::broadcast(std::span<std::byte> bytes, int root) {
  if (root < 0 || root >= size()) fail("broadcast from member {} of a group of {}", root, size());
  const TreePlace place = tree_place(rank_, size(), root);
  for (std::size_t done = 0; done < bytes.size(); done += kBroadcastChunkBytes) {
    const auto chunk = bytes.subspan(done, std::min(kBroadcastChunkBytes, bytes.size() - done));
    if (place.parent >= 0) receive(place.parent, chunk);
    if (place.children.empty()) continue;
    outbox_.drain(kChunksAhead);
    const auto copy = copy_of(chunk);
    for (const int child : place.children) send(child, copy);
  }
  outbox_.drain(0);
}

/// Part `i` of `parts` near-equal parts of `values`.
template <typename T>
std::span<T> part_of(std::span<T> values, int i, int parts) {
  const std::size_t begin =
      values.size() * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts);
  const std::size_t end =
      values.size() * static_cast<std::size_t>(i + 1) / static_cast<std::size_t>(parts);
  return values.subspan(begin, end - begin);
}

template <typename T>
void MpiCollective::reduce(std::span<T> values) {
  const std::size_t block = kReducePartBytes / sizeof(T) * members_.size();
  for (std::size_t done = 0; done < values.size(); done += block) {
    reduce_block(values.subspan(done, std::min(block, values.size() - done)));
  }
}

template <typename T>
void MpiCollective::reduce_block(std::span<T> block) {
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) send(member, copy_of(std::as_bytes(part_of(block, member, size()))));
  }
  const std::span<T> own = part_of(block, rank_, size());
  sum_own_part(own);
  const auto sum = copy_of(std::as_bytes(own));
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) send(member, sum);
  }
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) receive(member, std::as_writable_bytes(part_of(block, member, size())));
  }
  outbox_.drain(0);
}

/// Adds the members' values of this part in rank order, beginning with member 0's.
template <typename T>
void MpiCollective::sum_own_part(std::span<T> part) {
  std::vector<T> sum(part.size());
  std::vector<T> theirs(part.size());
  for (int member = 0; member < size(); ++member) {
    if (member != rank_) receive(member, std::as_writable_bytes(std::span(theirs)));
    const T* values = member == rank_ ? part.data() : theirs.data();
    if (member == 0) {
      std::copy_n(values, part.size(), sum.begin());
    } else {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
    }
  }
  std::copy(sum.begin(), sum.end(), part.begin());
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
