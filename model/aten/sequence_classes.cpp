#include "model/aten/sequence_classes.h"

#include <algorithm>
#include <bit>
#include <map>

namespace lie::aten {
namespace {

constexpr std::int64_t kLeast = 512;  // shorter sequences need little memory

}  // namespace

std::int64_t power_of_two(std::int64_t least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
}

std::vector<SequenceClass> sequence_classes(std::span<const std::int32_t> starts) {
  std::map<std::int64_t, SequenceClass> by_length;
  for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
    const std::int32_t length = starts[s + 1] - starts[s];
    if (length == 0) continue;
    const std::int64_t longest = power_of_two(std::max<std::int64_t>(length, kLeast));
    SequenceClass& to = by_length[longest];
    to.longest = longest;
    to.firsts.push_back(starts[s]);
    to.lengths.push_back(length);
  }
  std::vector<SequenceClass> classes;
  for (auto& [longest, one] : by_length) {
    const std::int64_t end = one.firsts.back() + one.lengths.back();
    const std::int64_t count = power_of_two(std::ssize(one.lengths));
    one.firsts.resize(static_cast<std::size_t>(count + 1), end);
    one.lengths.resize(static_cast<std::size_t>(count), 0);
    classes.push_back(std::move(one));
  }
  return classes;
}

std::int64_t kv_heads_at_once(std::int64_t kv_heads, std::int64_t bytes_per_kv_head,
                              std::int64_t most) {
  std::int64_t count = kv_heads;
  while (count > 1 && (kv_heads % count != 0 || count * bytes_per_kv_head > most)) --count;
  return count;
}

}  // namespace lie::aten
