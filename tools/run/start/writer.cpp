#include "tools/run/start/writer.h"

#include <memory>

#include "common/process/log.h"
#include "common/process/writer_lock.h"

namespace lie {

void become_writer(Job& job, const std::filesystem::path& guarded, std::string_view command) {
  const auto lock = std::make_shared<const WriterLock>(guarded, command);
  if (lock->taken_from()) {
    Log("lock", job.rank())
        .info("{} was locked by {}, which no longer runs", guarded.string(),
              lock->taken_from()->name());
  }
  job.keep(lock);
}

}  // namespace lie
