#include "common/process/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdio>

#include "common/process/terminal.h"
#include "common/text/printable.h"

namespace lie {

struct Log::Impl {
  spdlog::logger logger;
  std::string line_start = lie::line_start(stderr);
};

Log::Log(std::string_view role, int rank)
    : impl_(new Impl{.logger =
                         spdlog::logger("", std::make_shared<spdlog::sinks::stderr_sink_mt>())}) {
  impl_->logger.set_pattern("%v");
  impl_->line_start += fmt::format("[{} {}] ", role, rank);
}

Log::~Log() = default;
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;

void Log::write(bool is_warning, const std::string& message) const {
  const std::string line = impl_->line_start + (is_warning ? "warning: " : "") + printable(message);
  impl_->logger.log(is_warning ? spdlog::level::warn : spdlog::level::info, line);
  impl_->logger.flush();
}

}  // namespace lie
