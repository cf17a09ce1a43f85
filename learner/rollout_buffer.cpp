#include "learner/rollout_buffer.h"

#include <span>
#include <sstream>
#include <utility>

#include "common/comm/wire.h"
#include "common/error.h"

namespace lie {

void RolloutBuffer::add(ScoredGroup group) {
  const std::int64_t number = group.rollout.ticket.group;
  if (!groups_.emplace(number, std::move(group)).second) {
    fail("group {} was answered twice: this is a defect of the transport, please report it",
         number);
  }
}

std::vector<ScoredGroup> RolloutBuffer::take() {
  std::vector<ScoredGroup> groups;
  groups.reserve(groups_.size());
  for (auto& [number, group] : groups_) groups.push_back(std::move(group));
  groups_.clear();
  return groups;
}

std::vector<ScoredGroup> share_groups(std::vector<ScoredGroup> groups, Collective& learners) {
  if (learners.size() == 1) return groups;
  std::vector<std::byte> bytes;
  if (learners.rank() == 0) bytes = wire::pack(groups);
  std::uint64_t size = bytes.size();
  learners.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  bytes.resize(size);
  learners.broadcast(bytes, 0);
  if (learners.rank() == 0) return groups;
  return wire::unpack<std::vector<ScoredGroup>>(bytes);
}

std::vector<std::string> share_names(const std::vector<std::string>& names, Collective& learners) {
  std::string text;
  for (const std::string& name : names) text += name + '\n';
  std::uint64_t size = text.size();
  learners.broadcast(std::as_writable_bytes(std::span(&size, 1)), 0);
  text.resize(size);
  learners.broadcast(std::as_writable_bytes(std::span(text)), 0);
  std::vector<std::string> shared;
  std::istringstream lines(text);
  for (std::string name; std::getline(lines, name);) shared.push_back(name);
  return shared;
}

}  // namespace lie
