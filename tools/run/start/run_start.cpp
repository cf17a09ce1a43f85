#include "tools/run/start/run_start.h"

#include <nlohmann/json.hpp>

namespace lie {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunStart, step, model_directory, from_checkpoint, logged_step,
                                   last_step, settings, end_of_sequence_ids, model_sha256,
                                   base_sha256)

bool is_finished(const RunStart& start) { return start.step >= start.last_step; }

RunStart share_start(const RunStart& start, Collective& world) {
  std::vector<std::uint8_t> bytes = nlohmann::json::to_msgpack(start);
  broadcast_values(world, bytes);
  return nlohmann::json::from_msgpack(bytes).get<RunStart>();
}

}  // namespace lie
