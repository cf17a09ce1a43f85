#include "common/base/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/base/error.h"

namespace lie {
namespace {

/// The settings of the environment variables. The views refer to the environment's texts.
struct FaultPlan {
  std::string_view point;
  std::int64_t pass = 0;
  const char* log = nullptr;
};

FaultPlan plan_from_environment() {
  FaultPlan plan{.point = {}, .log = std::getenv("LIE_FAULT_LOG")};
  const char* fault = std::getenv("LIE_FAULT");
  if (fault == nullptr) return plan;
  const std::string_view text = fault;
  const std::size_t colon = text.find(':');
  plan.point = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    std::from_chars(text.data() + colon + 1, text.data() + text.size(), plan.pass);
  }
  if (plan.pass < 1) fail("LIE_FAULT is {}: expected POINT:N, such as journal:3", text);
  return plan;
}

/// Appends a line with a single write, so that lines of several processes do not mix.
void note_pass(const char* log, std::string_view point) {
  const int file = ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string line = std::string(point) + "\n";
  const bool ok = file >= 0 && ::write(file, line.data(), line.size()) == std::ssize(line);
  if (file >= 0) ::close(file);
  if (!ok) fail("{}: cannot write the file; check LIE_FAULT_LOG", log);
}

}  // namespace

bool fault_is_due(std::string_view point) {
  static const FaultPlan plan = plan_from_environment();
  static std::atomic<std::int64_t> passes = 0;
  if (plan.log != nullptr) note_pass(plan.log, point);
  return plan.pass > 0 && plan.point == point && ++passes == plan.pass;
}

void die_of_fault() {
  ::raise(SIGKILL);
  std::abort();
}

void pass_fault_point(std::string_view point) {
  if (fault_is_due(point)) die_of_fault();
}

}  // namespace lie
