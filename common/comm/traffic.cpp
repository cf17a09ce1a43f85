#include "common/comm/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/comm/mailbox.h"

namespace lie {
namespace {

std::string_view flow_name(std::size_t tag) {
  switch (static_cast<Tag>(tag)) {
    case Tag::kFarewell: return "farewells";
    case Tag::kRollouts: return "rollouts";
    case Tag::kScored: return "scored";
    case Tag::kTicketRequest: return "ticket_requests";
    case Tag::kTicketAnswer: return "ticket_answers";
    case Tag::kWorldGroup: return "world";
    case Tag::kWeightGroup: return "weights";
    case Tag::kLearnerGroup: return "learners";
    case Tag::kSharedPolicyGroup: return "shared_policy";
    case Tag::kFirstFree: break;
  }
  return "other";
}

int open_sockets() {
  namespace fs = std::filesystem;
  int sockets = 0;
  std::error_code gone;  // the descriptor of the listing itself disappears
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", gone)) {
    sockets += fs::read_symlink(entry.path(), gone).string().starts_with("socket:");
  }
  return sockets;
}

}  // namespace

Flow& Traffic::with(int tag, int peer) {
  const auto rank = static_cast<std::size_t>(peer);
  if (rank >= is_peer_.size()) is_peer_.resize(rank + 1);
  is_peer_[rank] = true;
  Flow& flow = flows_[std::min(static_cast<std::size_t>(tag), flows_.size() - 1)];
  if (flow.sent + flow.received == 0) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    flow.first_seconds = since.count();
  }
  return flow;
}

void Traffic::sent(int tag, int to, std::size_t bytes) {
  Flow& flow = with(tag, to);
  ++flow.sent;
  flow.sent_bytes += static_cast<std::int64_t>(bytes);
}

void Traffic::received(int tag, int from, std::size_t bytes) {
  Flow& flow = with(tag, from);
  ++flow.received;
  flow.received_bytes += static_cast<std::int64_t>(bytes);
}

std::string Traffic::line(int rank, std::string_view role, double end_seconds) const {
  std::string text = fmt::format(
      R"(traffic {{"rank": {}, "role": "{}", "peers": {}, "sockets": {}, "end_seconds": {:.4f})",
      rank, role, std::count(is_peer_.begin(), is_peer_.end(), true), open_sockets(), end_seconds);
  for (std::size_t tag = 0; tag < flows_.size(); ++tag) {
    const Flow& flow = flows_[tag];
    if (flow.sent + flow.received == 0) continue;
    text += fmt::format(
        R"(, "{}": {{"sent": {}, "sent_bytes": {}, "received": {}, "received_bytes": {}, "first_seconds": {:.4f}}})",
        flow_name(tag), flow.sent, flow.sent_bytes, flow.received, flow.received_bytes,
        flow.first_seconds);
  }
  return text + "}\n";
}

bool Traffic::is_wanted() {
  const char* wanted = std::getenv("LIE_TRAFFIC");
  return wanted != nullptr && std::string_view(wanted) == "1";
}

}  // namespace lie
