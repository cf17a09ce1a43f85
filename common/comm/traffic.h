// Counts the messages that this rank sends and receives. With LIE_TRAFFIC=1 the counts are printed
// at the end of the job.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lie {

/// Message counts of one tag (common/comm/mailbox.h).
struct Flow {
  std::int64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
  double first_seconds = 0;  // time of the first message, since this rank began
};

class Traffic {
 public:
  void sent(int tag, int to, std::size_t bytes);
  void received(int tag, int from, std::size_t bytes);

  /// Returns the word "traffic" and a JSON object on one line. It holds the rank and its role, the
  /// number of distinct peers, open sockets of the process, and every flow. It also holds the
  /// seconds from the end of this rank's work to the end of the job.
  std::string line(int rank, std::string_view role, double end_seconds) const;
  /// Returns whether the environment requests that line.
  static bool is_wanted();

 private:
  Flow& with(int tag, int peer);

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::array<Flow, 17> flows_;  // by tag; the last one counts all tags from kFirstFree on
  std::vector<bool> is_peer_;   // by rank, up to the highest peer
};

}  // namespace lie
