#include "tools/run/start/input_difference.h"

#include <fmt/format.h>

#include "common/base/error.h"
#include "common/base/run_files.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

bool differ(const std::string& then, const std::string& now) {
  return !then.empty() && !now.empty() && then != now;
}

std::string training_remedy(const RowsRecord& then, const RowsRecord& now, const std::string& run,
                            const InputRules& rules) {
  if (now.rows <= then.rows) return "restore its rows, or " + rules.otherwise;
  return fmt::format(
      "restore its rows, or learn the new ones in a run of its own: another run.directory, with "
      "model.path={}/checkpoints/step-NNNNNN",
      run);
}

std::string data_difference(const InputRecord& then, const InputRecord& now, const std::string& run,
                            const InputRules& rules) {
  if (then.training && now.training) {
    const std::string what = rows_difference(*then.training, *now.training);
    if (!what.empty()) {
      return fmt::format("data.train_file {} is not the one that {} began with: {}; {}",
                         now.train_file, run, what,
                         training_remedy(*then.training, *now.training, run, rules));
    }
  }
  if (differ(then.program_rows, now.program_rows)) {
    return fmt::format(
        "data.train_file {} has other fields, which programs receive, than {} began with; restore "
        "them, or {}",
        now.train_file, run, rules.otherwise);
  }
  if (rules.settings_may_change || !then.evaluation || !now.evaluation) return "";
  std::string what = rows_difference(*then.evaluation, *now.evaluation);
  if (what.empty() && differ(then.evaluation_program_rows, now.evaluation_program_rows)) {
    what = "its rows have other fields, which programs receive";
  }
  if (what.empty()) return "";
  return fmt::format(
      "data.evaluation_file {} is not the one that {} began with: {}; restore its "
      "rows, {}or {}",
      now.evaluation_file, run, what, rules.evaluation_remedy, rules.otherwise);
}

}  // namespace

std::string input_difference(const InputRecord& then, const InputRecord& now,
                             const std::string& run, const InputRules& rules) {
  const auto described = [&](const std::string& what, const std::string& there) {
    return fmt::format("{}, but {} began with {}; restore it, or {}", what, run, there,
                       rules.otherwise);
  };
  const std::string& model = now.model_path;
  // A log, and the record of a build without adapters, hold the sum of both.
  const std::string weights = then.adapter.empty() ? policy_sha256(now) : now.weights;
  if (differ(then.weights, weights)) {
    return described(fmt::format("model.path {}: its weights have SHA-256 {}", model, weights),
                     "those of " + then.weights);
  }
  if (differ(then.adapter, now.adapter)) {
    return described(
        now.adapter == kNoAdapter
            ? fmt::format("model.path {} and model.adapter name no adapter", model)
            : fmt::format("the adapter {} has SHA-256 {} (rank, alpha, targets, weights)",
                          now.adapter_path, now.adapter),
        then.adapter == kNoAdapter ? "no adapter" : "one of " + then.adapter);
  }
  if (differ(then.architecture, now.architecture)) {
    return described(fmt::format("{}/config.json describes {}", model, now.architecture),
                     then.architecture);
  }
  if (differ(then.tokenizer, now.tokenizer)) {
    return described(fmt::format("{}/tokenizer.json has SHA-256 {}", model, now.tokenizer),
                     "that of " + then.tokenizer);
  }
  if (differ(then.special_tokens, now.special_tokens)) {
    return described(
        fmt::format("{}/tokenizer_config.json or added_tokens.json names other special "
                    "tokens (SHA-256 {})",
                    model, now.special_tokens),
        "those of " + then.special_tokens);
  }
  if (differ(then.ends, now.ends)) {
    return described(fmt::format("the responses {} (eos_token_id of {}/generation_config.json and "
                                 "config.json, eos_token of tokenizer_config.json)",
                                 now.ends, model),
                     fmt::format("responses that {}", then.ends));
  }
  if (differ(then.prompt_template, now.prompt_template)) {
    return described(fmt::format("the chat template of {} is {}", model, now.prompt_template),
                     then.prompt_template);
  }
  if (!rules.names_other_teacher && differ(then.teacher_architecture, now.teacher_architecture)) {
    return fmt::format(
        "policy_loss.distillation.teacher {}: its config.json describes {}, but {} began with {}; "
        "restore it",
        now.teacher_path, now.teacher_architecture, run, then.teacher_architecture);
  }
  if (!rules.names_other_teacher && differ(then.teacher, now.teacher)) {
    return fmt::format(
        "policy_loss.distillation.teacher {}: its weights have SHA-256 {}, but {} began with those "
        "of {}; restore them, or put the new ones into another directory, name it and set "
        "run.resume=changed",
        now.teacher_path, now.teacher, run, then.teacher);
  }
  return data_difference(then, now, run, rules);
}

void check_same_inputs(const fs::path& run_directory, const InputRecord& now,
                       const InputRules& rules) {
  if (!fs::exists(run_directory / kConfigFile)) return;
  const std::string difference =
      input_difference(recorded_inputs(run_directory), now, run_directory.string(), rules);
  if (!difference.empty()) fail("{}", difference);
}

std::string program_change(const InputRecord& then, const InputRecord& now) {
  for (const auto& [file, sha256] : now.program_files) {
    const auto found = then.program_files.find(file);
    if (found == then.program_files.end() || found->second == sha256) continue;
    return fmt::format(
        "{}, which reward.command or verifier.command names, has changed since the last start: "
        "steps that are not logged yet are scored by the new content",
        file);
  }
  return "";
}

}  // namespace lie
