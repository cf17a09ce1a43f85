// A function that runs in a child process of its own, within limits of memory and processor time:
// for programs of strangers, such as chat templates, that can crash or never end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "common/io/descriptor.h"

namespace lie {

class LimitedProcess {
 public:
  struct Limits {
    std::int64_t memory_mebibytes = 1024;  // beyond what this process has at the fork
    std::int64_t cpu_seconds = 3;          // for each request
  };
  using Answer = std::function<std::string(std::string_view request)>;

  /// Forks a child that answers requests until this object is destroyed. `answer` runs in the child
  /// only, which has no other threads: it must not wait for a lock that one of them could hold.
  LimitedProcess(const Answer& answer, Limits limits);
  ~LimitedProcess();
  LimitedProcess(const LimitedProcess&) = delete;
  LimitedProcess& operator=(const LimitedProcess&) = delete;

  /// Returns the answer to a request. Throws Error with the message of what `answer` threw, or that
  /// says which limit was exceeded or how the child ended. Thread-safe.
  std::string ask(std::string_view request);

 private:
  std::string how_it_ended();

  Limits limits_;
  std::mutex mutex_;
  Descriptor socket_;
  pid_t child_ = -1;
  std::string ended_;  // why the child no longer answers; empty while it does
};

}  // namespace lie
