#include "tools/run/device_collective.h"

#include <fmt/format.h>

#include <set>

#include "common/comm/nccl_collective.h"
#include "common/log.h"
#include "tools/run/staged_collective.h"

namespace lie {

bool all_differ(Collective& group, const std::string& own) {
  std::set<std::string> all;
  for (int member = 0; member < group.size(); ++member) {
    std::string name = own;
    broadcast_values(group, name, member);
    all.insert(std::move(name));
  }
  return std::ssize(all) == group.size();
}

std::unique_ptr<Collective> device_collective(Job& job, Collective& host, Operators& operators) {
  auto staged = staged_collective(host, operators);
  const MemoryPlace place = operators.place();
  if (host.size() == 1 || place.is_host()) return staged;
  const std::string own =
      fmt::format("{} {}", job.environment().host(), gpu_bus_address(place.device));
  const bool have_own_gpus = all_differ(host, own);
  if (host.rank() == 0) {
    Log("learner", 0)
        .info("{} ranks {}", host.size(),
              have_own_gpus ? "with a GPU each: what they share travels over NCCL"
                            : "share GPUs: what they share travels through host memory");
  }
  return have_own_gpus ? nccl_collective(job, std::move(staged), place.device) : std::move(staged);
}

}  // namespace lie
