#include "tools/replay/logged_run.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "tools/run/roles/role_runners.h"
#include "tools/run/start/input_record.h"

namespace lie::replay {
namespace {

bool has_tokenizer(const fs::path& model, const std::string& sha256) {
  return fs::exists(model / "tokenizer.json") && tokenizer_sha256(model) == sha256;
}

fs::path tokenizer_directory(const LoggedRun& run) {
  const std::string& sha256 = run.log.info().tokenizer_sha256;
  if (has_tokenizer(run.logged.model.path, sha256)) return run.logged.model.path;
  const auto checkpoint = latest_checkpoint(run.directory / "checkpoints");
  if (checkpoint && has_tokenizer(*checkpoint, sha256)) return *checkpoint;
  fail(
      "{}: its responses were written with the tokenizer.json of SHA-256 {}, which is neither in "
      "model.path {} nor in the last checkpoint; restore it there",
      run.directory.string(), sha256, run.logged.model.path);
}

}  // namespace

LoggedRun load_logged_run(const fs::path& directory, std::span<const std::string> overrides,
                          std::int64_t step) {
  const std::vector<FormerConfig> former = former_configs(directory);
  const auto own = std::ranges::lower_bound(former, step, {}, &FormerConfig::last_step);
  const fs::path config = own == former.end() ? directory / "config.yaml" : own->path;
  for (const char* part : {"config.yaml", "trajectories"}) {  // sft and eval have no log
    if (fs::exists(directory / part)) continue;
    fail("{} holds no run of train ({} is missing): give the run.directory of one",
         directory.string(), part);
  }
  LoggedRun run{.directory = directory,
                .logged = load_train_config(config, {}),
                .now = load_train_config(config, overrides),
                .log = StepLog(directory / "trajectories"),
                .last_step = own == former.end() ? kAnyStep : own->last_step};
  if (run.log.steps().empty() || run.log.steps().back() == 0) {
    fail("{} holds no complete training step", (directory / "trajectories").string());
  }
  return run;
}

std::vector<std::string> changed_keys(const LoggedRun& run) {
  TrainConfig before = run.logged, after = run.now;
  const FieldList old_fields = fields_of(before), new_fields = fields_of(after);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < old_fields.fields().size(); ++i) {
    const Field& field = old_fields.fields()[i];
    if (field.get() != new_fields.fields()[i].get()) keys.push_back(field.key);
  }
  return keys;
}

DecodeText logged_decoder(const LoggedRun& run) {
  return text_decoder({.model_directory = tokenizer_directory(run)});
}

}  // namespace lie::replay
