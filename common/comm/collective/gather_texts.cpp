#include "common/comm/collective/gather_texts.h"

#include <cstddef>
#include <span>

#include "common/comm/collective/mpi_collective.h"
#include "common/comm/mailbox.h"
#include "common/comm/tree.h"
#include "common/io/json.h"

namespace lie {
namespace {

/// Returns the texts of this rank and of those below it in the tree, by rank.
Json texts_of_subtree(Job& job, const TreePlace& place, std::string_view mine) {
  Json texts;
  texts[std::to_string(job.rank())] = mine;
  if (place.children.empty()) return texts;
  Inbox inbox(job, Tag::kTexts);
  for (std::size_t i = 0; i < place.children.size(); ++i) {
    texts.update(Json::parse(inbox.receive().bytes));
  }
  return texts;
}

}  // namespace

std::vector<std::string> gather_texts(Job& job, std::string_view mine) {
  const TreePlace place = tree_place(job.rank(), job.size());
  std::string texts = texts_of_subtree(job, place, mine).dump();
  Outbox outbox(job);
  if (place.parent >= 0) {
    const auto bytes = std::as_bytes(std::span(texts));
    outbox.post(place.parent, Tag::kTexts, Bytes(bytes.begin(), bytes.end()));
  }
  broadcast_values(*world_collective(job), texts);
  const Json all = Json::parse(texts);
  std::vector<std::string> by_rank(static_cast<std::size_t>(job.size()));
  for (const auto& [rank, text] : all.items()) by_rank[std::stoul(rank)] = text;
  return by_rank;
}

}  // namespace lie
