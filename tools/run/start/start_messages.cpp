#include "tools/run/start/start_messages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>  // program_invocation_name
#include <filesystem>
#include <iostream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

#include "common/base/error.h"
#include "common/io/metrics_log.h"
#include "common/process/log.h"
#include "common/process/program.h"
#include "common/process/progress.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "learner/checkpoint/best_checkpoint.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "model/cuda/operators.h"
#include "tools/run/config/devices.h"

namespace lie {

namespace {

constexpr std::size_t kColumns = 80;

/// Returns the position of the space at which to break a line that is too wide. It is the space
/// after the last comma that fits, else the last space that fits, else the first space (after a
/// long path).
std::size_t break_of(const std::string& line, std::size_t columns) {
  const std::size_t comma = line.rfind(", ", columns - 1);
  if (comma != std::string::npos) return comma + 1;
  const std::size_t space = line.rfind(' ', columns);
  return space != std::string::npos ? space : line.find(' ');
}

/// Wraps one line of a value; continuation lines are indented by `name_columns`.
std::string wrapped(std::string line, std::size_t name_columns) {
  std::string text;
  while (line.size() > kColumns - name_columns) {
    const std::size_t space = break_of(line, kColumns - name_columns);
    if (space == std::string::npos) break;
    text += line.substr(0, space) + fmt::format("\n{:{}}", "", name_columns);
    line.erase(0, space + 1);
  }
  return text + line;
}

/// Returns `text` as one word of a shell command, quoted if it has characters that are special
/// there.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(text, is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace

std::string run_summary_text(std::string_view headline, std::span<const SummaryEntry> entries) {
  std::string text(headline);
  std::size_t wide = 0;
  for (const SummaryEntry& entry : entries) wide = std::max(wide, entry.name.size());
  for (const SummaryEntry& entry : entries) {
    std::istringstream lines(entry.value);
    std::string name = entry.name;
    for (std::string line; std::getline(lines, line); name.clear()) {
      text += fmt::format("\n  {:<{}}  ", name, wide);
      text += entry.is_command ? line : wrapped(line, wide + 4);
    }
  }
  return text;
}

SummaryEntry next_command_entry(std::string_view program, const std::string& argument,
                                std::initializer_list<std::string> more) {
  const std::string path =
      std::filesystem::path(program_invocation_name).replace_filename(program).string();
  std::string command = shell_word(path) + " " + shell_word(argument);
  for (const std::string& word : more) command += " " + shell_word(word);
  return {.name = "next", .value = std::move(command), .is_command = true};
}

namespace {

namespace fs = std::filesystem;

/// Returns the tokens of the largest micro-batch. Sequences are never split.
std::int64_t micro_batch_tokens(const TrainConfig& config) {
  const std::int64_t longest =
      config.rollout.max_prompt_tokens + config.rollout.sampling.max_response_tokens;
  const std::int64_t of_mini_batch =
      config.update.mini_batch_prompts * config.tickets.samples_per_prompt * longest;
  return std::min(std::max(config.update.max_micro_batch_tokens, longest), of_mini_batch);
}

std::vector<SummaryEntry> data_entries(const TrainConfig& config, const PreparedRun& run) {
  std::vector<SummaryEntry> entries = {
      {"data", fmt::format("{} of {}", counted(std::ssize(run.inputs.prompts.training), "prompt"),
                           config.data.train_file)}};
  if (config.evaluation.every > 0) {
    entries.push_back(
        {"evaluation",
         fmt::format("{} of {}", counted(std::ssize(run.inputs.prompts.evaluation), "prompt"),
                     fmt::join(config.data.evaluation_file, ", "))});
  }
  std::ranges::move(text_entries(config.data.prompt_template, config.rollout, run.inputs.ends.text),
                    std::back_inserter(entries));
  return entries;
}

/// Returns whether no actor needs its own copy of the weights, as far as it is known at the start.
/// If an actor cannot open the learner's weights after all, a log line says so.
bool all_share_policy(const TrainConfig& config, const RoleLayout& layout) {
  if (!allows_shared_policy(config)) return false;
  if (layout.places.size() == 1) return true;
  const std::string& device = config.model.device;
  const int gpus = device.find(':') == std::string::npos ? usable_gpus() : 1;
  if (!device.starts_with("cuda") || gpus == 0) return false;
  const auto gpu = [&](int rank) {
    return std::pair(layout.places[static_cast<std::size_t>(rank)].host,
                     local_gpu_index(layout, rank) % gpus);
  };
  std::set<std::pair<std::string, int>> of_learners;
  for (const int learner : layout.learners) of_learners.insert(gpu(learner));
  return std::ranges::all_of(layout.actors,
                             [&](int actor) { return of_learners.contains(gpu(actor)); });
}

std::string indented(const std::string& table) {
  std::istringstream rows(table);
  std::string text;
  for (std::string row; std::getline(rows, row);) text += "\n  " + row;
  return text;
}

/// Returns entries on the time that the steps took and on the evaluations, as far as the metrics
/// hold them.
std::vector<SummaryEntry> result_entries(std::span<const MetricsRow> rows) {
  double seconds = 0;
  std::vector<const MetricsRow*> evaluations;
  for (const MetricsRow& row : rows) {
    seconds += row.value_or_zero("step_seconds");
    if (row.find("eval_accuracy")) evaluations.push_back(&row);
  }
  std::vector<SummaryEntry> entries = {{"time", duration_text(seconds) + " in steps"}};
  if (evaluations.empty()) return entries;
  const MetricsRow &first = *evaluations.front(), &last = *evaluations.back();
  std::string accuracy =
      fmt::format("accuracy {:.3f} after step {}", last.value_or_zero("eval_accuracy"), last.step);
  if (first.step < last.step) {
    accuracy +=
        fmt::format(", {:.3f} after step {}", first.value_or_zero("eval_accuracy"), first.step);
  }
  entries.push_back({"held out", accuracy});
  return entries;
}

/// Returns what a finished run has: all steps, or those until run.stop_when was met.
std::string steps_text(const TrainConfig& config, const RunStart& start) {
  const std::int64_t steps = config.run.steps;
  if (start.last_step >= steps) return "all " + counted(steps, "step");
  return fmt::format("{} of {}, until {}", start.last_step, counted(steps, "step"),
                     config.run.stop_when);
}

/// Returns the summary of where a run's results are, with the command to type next.
std::string end_text(const TrainConfig& config, std::string_view how) {
  const fs::path directory = config.run.directory;
  const MetricsFile metrics = read_valid_metrics(directory / "metrics.jsonl");
  std::vector<SummaryEntry> entries = result_entries(metrics.rows);
  std::ranges::copy(checkpoint_entries(directory), std::back_inserter(entries));
  const std::string& kept = config.best_checkpoint.keep_best;
  const std::string metric = kept.empty() ? "eval_accuracy" : kept;
  const auto best = metrics.damage.empty() ? best_saved_step(directory, metric) : std::nullopt;
  if (best) entries.push_back({"best", fmt::format("step {} by {}", *best, metric)});
  entries.push_back({"trajectories", (directory / "trajectories").string()});
  entries.push_back(next_command_entry("lie_analyze", directory.string()));
  return run_summary_text(how, entries);
}

}  // namespace

std::string start_text(const TrainConfig& config, const PreparedRun& run,
                       const RoleLayout& layout) {
  if (is_finished(run.start)) {
    return end_text(config, fmt::format("{} is finished: it has {}", config.run.directory,
                                        steps_text(config, run.start)));
  }
  std::vector<SummaryEntry> entries;
  if (run.start.from_checkpoint) entries.push_back({"from", run.start.model_directory.string()});
  entries.push_back(model_entry(config.model.path, run.inputs.model.parameters));
  if (config.weight_sync.weights == DType::kBFloat16) {
    entries.push_back(
        {"weights", "rounded to bfloat16 for the actors: their policy differs from the learner's"});
  }
  std::ranges::copy(data_entries(config, run), std::back_inserter(entries));
  entries.push_back(
      memory_entry(memory_of_roles(config, run.inputs.model.config, run.inputs.dtypes, layout)));
  if (!layout.actors.empty()) {
    entries.back().value +=
        cache_text(run.inputs.model.config, run.inputs.dtypes.packed, config.rollout);
  }
  const bool resumes = run.start.from_checkpoint || run.start.logged_step > 0;
  const std::string head =
      run_headline(config.run.directory, resumes ? std::optional(run.start.step) : std::nullopt,
                   counted(config.run.steps, "step"));
  return run_summary_text(head, entries) + indented(layout.table(config.model.threads));
}

void end_run(Job& job, const TrainConfig& config, const RunStart& start, const EarlyStop& stop) {
  const bool is_stopped = !stop.reason().empty() && !stop.has_reached_goal();
  if (job.rank() == 0) {
    std::string how = stop.reason();
    if (is_stopped) how += "; start the same command again to resume";
    if (how.empty()) how = "done: " + steps_text(config, start);
    Log("learner", 0).info("{}", end_text(config, how));
  }
  if (is_stopped) job.set_stopped();
}

void print_dry_run(const std::string& config, std::string_view role, const std::string& start) {
  std::cout << config;
  flush_output(std::cout);
  const Log log(role, 0);
  log.info("{}", start);
  log.info("dry run: all checks passed; nothing was started or written");
}

std::vector<RoleMemory> memory_of_roles(const TrainConfig& config, const ModelConfig& model,
                                        const ComputeDTypes& dtypes, const RoleLayout& layout) {
  const LearnerSizes sizes{
      .micro_batch_tokens = micro_batch_tokens(config),
      .activation_bytes = config.update.activation_mebibytes << 20,
      .has_reference = config.policy_loss.kl_coefficient > 0,
      .copies_checkpoints = config.checkpoint.background && config.checkpoint.every > 0,
      .gradient_shards = config.update.gradient_shards,
      .learners = static_cast<int>(layout.learners.size())};
  std::vector<RoleMemory> roles = {{"learner", learner_memory(model, dtypes, sizes)}};
  if (layout.actors.empty()) return roles;
  MemoryPlan actor = actor_memory(model, dtypes, config.rollout);
  const bool shares = config.roles.share_weights && can_share_weights(config.model);
  if (all_share_policy(config, layout)) actor.parts.front().bytes = 0;
  if (shares && layout.actors.size() > 1) actor.parts.front().what = "weights (one copy a host)";
  roles.push_back({"actor", std::move(actor)});
  return roles;
}

SummaryEntry memory_entry(std::span<const RoleMemory> roles) {
  std::string text;
  for (const RoleMemory& role : roles) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "\n", role.role, memory_text(role.memory));
  }
  return {"memory", text};
}

SummaryEntry model_entry(const std::string& path, std::int64_t parameters) {
  const bool is_large = parameters >= 1'000'000'000;
  return {"model", fmt::format("{}: {:.3g} {} parameters", path,
                               static_cast<double>(parameters) / (is_large ? 1e9 : 1e6),
                               is_large ? "billion" : "million")};
}

std::vector<SummaryEntry> text_entries(const std::string& prompt_template,
                                       const RolloutOptions& rollout, const std::string& ends) {
  return {{"prompts", fmt::format("template {}, {} tokens at most", prompt_template,
                                  rollout.max_prompt_tokens)},
          {"responses",
           fmt::format("{} tokens at most, {}", rollout.sampling.max_response_tokens, ends)}};
}

std::string run_headline(const std::string& directory, std::optional<std::int64_t> step,
                         const std::string& length) {
  if (step) return fmt::format("{}: resumes after step {} of {}", directory, *step, length);
  return fmt::format("{}: a new run of {}", directory, length);
}

std::vector<SummaryEntry> checkpoint_entries(const fs::path& run_directory) {
  const auto checkpoint = latest_checkpoint(run_directory / "checkpoints");
  if (!checkpoint) return {};
  return {{"checkpoint", checkpoint->string()}};
}

}  // namespace lie
