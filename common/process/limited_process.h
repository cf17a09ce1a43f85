// A function that runs in a child process of its own, with limits on memory (1 GiB more than this
// process has at the fork) and processor time (3 s for each request). It isolates untrusted
// programs, such as chat templates, that may crash or never end.
#pragma once

#include <sys/types.h>

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "common/io/descriptor.h"

namespace lie {

class LimitedProcess {
 public:
  using Answer = std::function<std::string(std::string_view request)>;

  /// Forks a child that answers requests until this object is destroyed. `answer` runs in the child
  /// only, without this process's other threads. It must not wait for a lock that they may hold.
  explicit LimitedProcess(const Answer& answer);
  ~LimitedProcess();
  LimitedProcess(const LimitedProcess&) = delete;
  LimitedProcess& operator=(const LimitedProcess&) = delete;

  /// Returns the answer to a request. Throws Error with the message of the exception that `answer`
  /// threw, with the limit that was exceeded, or with how the child ended. Thread-safe.
  std::string ask(std::string_view request);

 private:
  std::string how_it_ended();

  std::mutex mutex_;
  Descriptor socket_;
  pid_t child_ = -1;
  std::string ended_;  // why the child no longer answers; empty while it does
};

}  // namespace lie
