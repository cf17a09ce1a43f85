// What this rank sent and received: counted always, told at the end where LIE_TRAFFIC=1 asks for
// it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// The messages of one tag (common/comm/mailbox.h).
struct Flow {
  std::int64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
  double first_seconds = 0;  // of its first message, since this rank began
};

class Traffic {
 public:
  void sent(int tag, int to, std::size_t bytes);
  void received(int tag, int from, std::size_t bytes);

  /// One line of JSON behind the word "traffic": the rank and its role, distinct peers, open
  /// sockets of the process, seconds from this rank's last work to the job's end, and every flow.
  std::string line(int rank, std::string_view role, double end_seconds) const;
  /// Whether the environment asks for that line.
  static bool is_wanted();

 private:
  Flow& with(int tag, int peer);

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::array<Flow, 17> flows_;  // by tag; the last: of all tags from kFirstFree on
  std::vector<bool> is_peer_;   // by rank, as far as there were any
};

}  // namespace lie
