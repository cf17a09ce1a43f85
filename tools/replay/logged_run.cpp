#include "tools/replay/logged_run.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/config/config_history.h"
#include "common/io/file.h"
#include "common/trajectory/segments.h"
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
  const auto checkpoint = latest_checkpoint(run.directory / kCheckpoints);
  if (checkpoint && has_tokenizer(*checkpoint, sha256)) return *checkpoint;
  fail(
      "{}: its responses were written with the tokenizer.json of SHA-256 {}, which is neither in "
      "model.path {} nor in the last checkpoint; restore it there",
      run.directory.string(), sha256, run.logged.model.path);
}

/// Returns the overrides, preceded by those that a change of the loss needs: config.yaml holds the
/// aggregation and the divisor that the run's own loss had, and another loss has its own.
std::vector<std::string> with_own_aggregation(std::span<const std::string> overrides) {
  std::vector<std::string> all;
  const bool changes_loss = std::ranges::any_of(overrides, [](const std::string& each) {
    return each.starts_with("policy_loss.algorithm=") ||
           each.starts_with("policy_loss.surrogate=") ||
           each.starts_with("policy_loss.ratio_level=");
  });
  if (changes_loss) {
    all = {"policy_loss.aggregation=auto", "policy_loss.constant_divisor=auto"};
  }
  all.insert(all.end(), overrides.begin(), overrides.end());
  return all;
}

}  // namespace

LoggedRun load_logged_run(const fs::path& directory, std::span<const std::string> overrides,
                          std::int64_t step) {
  const std::vector<FormerConfig> former = former_configs(directory);
  const auto own = std::ranges::lower_bound(former, step, {}, &FormerConfig::last_step);
  const fs::path config = own == former.end() ? directory / kConfigFile : own->path;
  for (const char* part : {kConfigFile, kTrajectories}) {  // sft and eval have no log
    if (fs::exists(directory / part)) continue;
    fail("{} holds no run of train ({} is missing): give the run.directory of one",
         directory.string(), part);
  }
  if (are_of_evaluation(config_values(directory / kConfigFile))) {
    fail("{} is a directory of lie_cluster eval: give the run.directory of a run of train",
         directory.string());
  }
  LoggedRun run{.directory = directory,
                .logged = load_train_config(config, {}),
                .now = load_train_config(config, with_own_aggregation(overrides)),
                .log = StepLog(directory / kTrajectories),
                .last_step = own == former.end() ? kAnyStep : own->last_step};
  if (run.log.steps().empty() || run.log.steps().back() == 0) {
    fail("{} holds no complete training step", (directory / kTrajectories).string());
  }
  return run;
}

std::vector<std::string> losses_of(const LoggedRun& run) {
  std::vector<std::string> losses = missing_segments(run.directory / kTrajectories);
  losses.insert(losses.end(), run.log.notes().begin(), run.log.notes().end());
  return losses;
}

std::vector<std::string> changed_keys(const LoggedRun& run) {
  TrainConfig before = run.logged, after = run.now;
  return differing_keys(fields_of(before), fields_of(after));
}

DecodeText logged_decoder(const LoggedRun& run) {
  return text_decoder({.model_directory = tokenizer_directory(run)});
}

}  // namespace lie::replay
