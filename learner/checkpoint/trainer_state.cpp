#include "learner/checkpoint/trainer_state.h"

#include <type_traits>

#include "common/base/error.h"
#include "common/io/checksums.h"
#include "common/io/json.h"
#include "common/io/sha256.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kSchemaVersion = 1;
constexpr const char* kStateFile = "trainer_state.json";
constexpr const char* kChecksums = "checksums";
constexpr const char* kEntropyCoefficient = "entropy_coefficient";

/// Calls use(name, value) for each field of the state, in the order of trainer_state.json.
template <typename State, typename Use>
void each_field(State& state, const Use& use) {
  use("step", state.step);
  use("policy_version", state.policy_version);
  use("optimizer_updates", state.optimizer_updates);
  use("skipped_updates", state.skipped_updates);
  use("seed", state.seed);
  use("build_id", state.build_id);
  use("prompt_stream_epoch", state.prompt_stream.epoch);
  use("prompt_stream_position", state.prompt_stream.position);
}

/// Returns a field of trainer_state.json. Throws Error unless it has the type T.
template <typename T>
T field(const Json& json, const char* key, const fs::path& path) {
  const auto at = json.find(key);
  if (at == json.end()) {
    fail(
        "{}: field \"{}\" is missing; the checkpoint is incomplete or from another program: "
        "remove its directory to resume from the preceding one",
        path.string(), key);
  }
  const bool fits = !std::is_integral_v<T> || at->is_number_integer();
  try {
    if (fits) return at->get<T>();
  } catch (const Json::exception&) {  // another type of value: the error below
  }
  fail(
      "{}: field \"{}\" is {}, expected another type of value; remove the checkpoint's directory "
      "to resume from the preceding one",
      path.string(), key, at->dump());
}

}  // namespace

void save_trainer_state(const TrainerState& state, const fs::path& checkpoint) {
  Json json;
  json["schema_version"] = kSchemaVersion;
  each_field(state, [&](const char* key, const auto& value) { json[key] = value; });
  if (state.entropy_coefficient != 0) json[kEntropyCoefficient] = state.entropy_coefficient;
  json[kChecksums] = kChecksumsFile;
  write_json(json, checkpoint / kStateFile);
}

bool promises_checksums(const fs::path& checkpoint) {
  return read_json(checkpoint / kStateFile).contains(kChecksums);
}

TrainerState load_trainer_state(const fs::path& checkpoint) {
  const fs::path path = checkpoint / kStateFile;
  const Json json = read_json(path);
  if (!json.is_object())
    fail("{}: expected a JSON object; this is not a checkpoint", path.string());
  const auto version = field<std::int64_t>(json, "schema_version", path);
  if (version != kSchemaVersion) {
    fail("{}: schema_version {}, expected {}; resume with the program that wrote it", path.string(),
         version, kSchemaVersion);
  }
  TrainerState state;
  each_field(state, [&](const char* key, auto& value) {
    value = field<std::remove_reference_t<decltype(value)>>(json, key, path);
  });
  if (json.contains(kEntropyCoefficient)) {
    state.entropy_coefficient = field<double>(json, kEntropyCoefficient, path);
  }
  if (state.step < 0 || state.optimizer_updates < 0 || state.skipped_updates < 0) {
    fail(
        "{}: a count is negative; remove the checkpoint's directory to resume from the preceding "
        "one",
        path.string());
  }
  return state;
}

}  // namespace lie
