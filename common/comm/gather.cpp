#include "common/comm/gather.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "common/comm/collective/mpi_collective.h"
#include "common/comm/mailbox.h"
#include "common/comm/tree.h"

namespace lie {
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
