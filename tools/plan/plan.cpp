#include "tools/plan/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <utility>

#include "common/base/error.h"
#include "common/comm/environment.h"
#include "common/process/program.h"
#include "common/text/counted.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/plan/calibration.h"
#include "tools/plan/step_time.h"
#include "tools/run/config/devices.h"
#include "tools/run/input/prompts.h"
#include "tools/run/start/start_messages.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using namespace planning;

constexpr double kAssumedBytesPerSecond = 1.25e9;  // 10 Gbit/s
constexpr std::int64_t kPromptsRead = 256;         // the typical prompt length is taken from these

/// One layout of roles, and the step time that is expected of it.
struct Forecast {
  RoleLayout layout;
  StepTime time;
  bool is_configured = false;  // by roles.*; otherwise the layout that train chooses
};

/// What is expected of one number of ranks.
struct RanksPlan {
  std::int64_t ranks = 0;
  std::vector<RoleMemory> memory;   // of the last forecast's layout
  std::vector<Forecast> forecasts;  // the automatic layout, then the configured one if there is one
};

struct Plan {
  std::string config;
  std::vector<SummaryEntry>
      entries;  // what is planned, and whether it was measured, stated or assumed
  Costs costs;
  std::vector<RanksPlan> ranks;
};

/// "-" where no rank does nothing but score.
std::string reward_workers_of(const RoleLayout& layout) {
  const bool is_learner = layout.reward_workers.front() == layout.learners.front();
  return is_learner ? "-" : std::to_string(layout.reward_workers.size());
}

/// Three digits, or more for whole numbers.
std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0);
}

std::string row_of(const Forecast& forecast) {
  const auto& [layout, time, is_configured] = forecast;
  return fmt::format("\n{:>5} {:>6} {:>6} {:>8} {:>9} {:>9.0f} {:>5.0f} {:>6.0f} {:>7.0f}  {}",
                     layout.places.size(), layout.actors.size(), reward_workers_of(layout),
                     layout.learners.size(), seconds_text(time.step), time.tokens_per_second,
                     100 * time.idle_actor, 100 * time.idle_reward_worker, 100 * time.idle_learner,
                     is_configured ? "roles.*" : "automatic");
}

std::string table_of(const std::vector<RanksPlan>& plans) {
  std::string text =
      "\n\n                                                  idle, %\n"
      "ranks actors reward learners    step s  tokens/s actor reward learner  layout";
  for (const RanksPlan& plan : plans) {
    for (const Forecast& forecast : plan.forecasts) text += row_of(forecast);
  }
  return text + "\n";
}

Json json_of(const std::vector<RoleMemory>& memory) {
  Json json = Json::object();
  for (const auto& [role, plan] : memory) {
    Json& parts = json[role]["bytes"] = Json::object();
    for (const MemoryPart& part : plan.parts) parts[part.what] = part.bytes;
    json[role]["all_bytes"] = plan.bytes();
  }
  return json;
}

Json json_of(const Forecast& forecast) {
  const auto& [layout, time, is_configured] = forecast;
  return {{"actors", layout.actors.size()},
          {"reward_workers", layout.reward_workers.size()},
          {"learners", layout.learners.size()},
          {"is_configured", is_configured},
          {"step_seconds", time.step},
          {"tokens_per_second", time.tokens_per_second},
          {"generate_seconds", time.generate},
          {"update_seconds", time.update},
          {"publish_seconds", time.publish},
          {"idle_share_actor", time.idle_actor},
          {"idle_share_reward_worker", time.idle_reward_worker},
          {"idle_share_learner", time.idle_learner}};
}

/// Returns the entries and a table, 80 columns wide.
std::string text_of(const Plan& plan) {
  return run_summary_text("plan of " + plan.config, plan.entries) + table_of(plan.ranks);
}

Json json_of(const Plan& plan) {
  Json summary = Json::object(), ranks = Json::array();
  for (const SummaryEntry& entry : plan.entries) summary[entry.name] = entry.value;
  for (const RanksPlan& of : plan.ranks) {
    Json layouts = Json::array();
    for (const Forecast& forecast : of.forecasts) layouts.push_back(json_of(forecast));
    ranks.push_back({{"ranks", of.ranks}, {"memory", json_of(of.memory)}, {"layouts", layouts}});
  }
  return {{"config", plan.config}, {"summary", summary}, {"costs", plan.costs}, {"ranks", ranks}};
}

bool is_on_gpu(const TrainConfig& config) { return config.model.device.starts_with("cuda"); }

bool holds_a_log(const fs::path& run) {
  if (!fs::is_directory(run / "trajectories")) return false;
  return std::ranges::any_of(fs::directory_iterator(run / "trajectories"),
                             [](const auto& entry) { return entry.path().extension() == ".h5"; });
}

/// Returns the response lengths to plan with. Their text begins with their origin.
Lengths known_lengths(const PlanArguments& arguments, const TrainConfig& config,
                      std::int64_t prompt_tokens) {
  const bool is_stated = arguments.median_tokens > 0;
  std::string log = arguments.lengths;
  if (log.empty() && !is_stated && holds_a_log(config.run.directory)) log = config.run.directory;
  if (!log.empty()) return logged_lengths(log);
  const std::int64_t longest = config.rollout.sampling.max_response_tokens;
  const double median =
      is_stated ? arguments.median_tokens : std::max(static_cast<double>(longest) / 4, 1.0);
  Lengths lengths = log_normal_lengths(median, arguments.sigma, longest, prompt_tokens);
  lengths.text =
      fmt::format("{}, log-normal with median {:.4g} and sigma {:.3g}: {}",
                  is_stated ? "stated" : "assumed", median, arguments.sigma, lengths.text);
  return lengths;
}

/// Throws Error if an input of the measurement is missing.
void check_measurable(const TrainConfig& config) {
  const fs::path model = config.model.path;
  const bool is_command = fs::exists(model / "model.safetensors");
  for (const fs::path& path :
       {model / (is_command ? "model.safetensors" : "model.safetensors.index.json"),
        model / "tokenizer.json", fs::path(config.data.train_file)}) {
    if (fs::exists(path)) continue;
    fail(
        "{} is not there: costs are measured with the model's weights, its tokenizer and the data; "
        "to plan without them give --costs FILE, which lie_cluster plan --json writes where they "
        "are",
        path.string());
  }
}

/// Returns the prompts to measure with; empty if the costs are given.
std::vector<Prompt> prompts_of(const PlanArguments& arguments, const TrainConfig& config) {
  if (!arguments.costs.empty()) return {};
  check_measurable(config);
  return read_run_prompts(config.data.train_file, config.data, config.model.path).prompts;
}

/// Returns the tokens of a typical prompt, or the config's limit if no prompts were read.
std::int64_t tokens_of(const std::vector<Prompt>& prompts, const TrainConfig& config) {
  if (prompts.empty()) return config.rollout.max_prompt_tokens;
  const Tokenizer tokenizer = Tokenizer::load(config.model.path);
  const std::int64_t count = std::min<std::int64_t>(std::ssize(prompts), kPromptsRead);
  std::int64_t tokens = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens += std::ssize(tokenizer.encode(prompts[static_cast<std::size_t>(i)].text));
  }
  return std::clamp<std::int64_t>(tokens / count, 1, config.rollout.max_prompt_tokens);
}

Costs costs_of(const PlanArguments& arguments, const TrainConfig& config,
               const std::vector<Prompt>& prompts, const Lengths& lengths) {
  if (!arguments.costs.empty()) return read_costs(arguments.costs);
  std::vector<int> threads = {1, static_cast<int>(usable_cpus().size())};
  if (config.model.threads > 0) threads = {static_cast<int>(config.model.threads)};
  if (is_on_gpu(config) || threads.back() == 1) threads.resize(1);
  const auto tokens = [](double mean) { return std::max<std::int64_t>(std::llround(mean), 1); };
  Costs costs = measure_costs(
      {config, prompts, tokens(lengths.prompt_mean), tokens(lengths.response_mean)}, threads);
  costs.bytes_per_second = kAssumedBytesPerSecond;
  return costs;
}

ModelConfig model_of(const TrainConfig& config) {
  if (fs::is_regular_file(fs::path(config.model.path) / "config.json")) {
    return load_model_config(config.model.path);
  }
  fail(
      "{}/config.json is not there: a plan needs it for sizes, and, without --costs FILE, the "
      "model's weights, tokenizer and data to measure with; set model.path",
      config.model.path);
}

/// Lists the values that were not measured.
std::string assumptions(const PlanArguments& arguments, const TrainConfig& config) {
  std::vector<std::string> texts;
  if (arguments.costs.empty() && arguments.bytes_per_second == 0) {
    texts.push_back(fmt::format("{:.3g} GB/s between ranks", kAssumedBytesPerSecond / 1e9));
  }
  if (config.evaluation.every > 0) texts.push_back("no evaluations");
  if (config.checkpoint.every > 0) texts.push_back("no checkpoints");
  texts.push_back("messages take no time");
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string step_text(const Workload& work) {
  return fmt::format(
      "{} prompts with {} responses, {} prompts an update, staleness {}, {} responses in flight",
      work.prompts, work.samples_per_prompt, work.mini_batch_prompts, work.max_staleness,
      work.in_flight);
}

std::string hosts_text(const Machine& machine) {
  const std::string ranks = machine.ranks_per_host > 0
                                ? counted(machine.ranks_per_host, "rank") + " a host"
                                : "all ranks on one host";
  if (machine.cores == 0) return ranks + ", which share no cores";
  return fmt::format("{} of {} cores", ranks, machine.cores);
}

std::int64_t cores_of(const PlanArguments& arguments, const TrainConfig& config) {
  if (arguments.cores >= 0) return arguments.cores;
  return is_on_gpu(config) ? 0 : std::ssize(usable_cpus());
}

bool sets_roles(const RolesOptions& roles) {
  return roles.actors > 0 || roles.reward_workers > 0 || roles.learners > 0;
}

struct Inputs {
  TrainConfig config;
  ModelConfig model;
  ComputeDTypes dtypes;
  Lengths lengths;
  Costs costs;
  Workload work;
  Machine machine;
};

Inputs inputs_of(const PlanArguments& arguments) {
  TrainConfig config = load_train_config(arguments.config, arguments.overrides);
  const ModelConfig model = model_of(config);
  const std::vector<Prompt> prompts = prompts_of(arguments, config);
  Lengths lengths = known_lengths(arguments, config, tokens_of(prompts, config));
  const ComputeDTypes dtypes = is_on_gpu(config) ? ComputeDTypes(DType::kBFloat16)
                                                 : make_operators(config.model, 1)->dtypes();
  Costs costs = costs_of(arguments, config, prompts, lengths);
  if (arguments.bytes_per_second > 0) costs.bytes_per_second = arguments.bytes_per_second;
  const Workload work = workload_of(config, model, dtypes.packed, lengths);
  const Machine machine{
      .ranks_per_host = arguments.ranks_per_host,
      .cores = cores_of(arguments, config),
      .threads = config.model.threads,
      .shares_weights = config.roles.share_weights && can_share_weights(config.model)};
  return {std::move(config), model, dtypes, std::move(lengths), std::move(costs), work, machine};
}

RanksPlan plan_of(const Inputs& in, std::int64_t ranks) {
  RanksPlan plan{.ranks = ranks, .memory = {}, .forecasts = {}};
  const auto add = [&](const RolesOptions& roles, bool is_configured) {
    RoleLayout layout = layout_of(roles, in.machine, ranks, in.work.gradient_shards);
    const StepTime time = step_time(in.work, in.costs, in.lengths, in.machine, layout);
    plan.forecasts.push_back({std::move(layout), time, is_configured});
  };
  add({}, false);
  if (sets_roles(in.config.roles)) add(in.config.roles, true);
  plan.memory = memory_of_roles(in.config, in.model, in.dtypes, plan.forecasts.back().layout);
  return plan;
}

Plan make_plan(const PlanArguments& arguments) {
  const Inputs in = inputs_of(arguments);
  Plan plan{.config = arguments.config, .entries = {}, .costs = in.costs, .ranks = {}};
  for (const std::int64_t ranks : arguments.ranks) plan.ranks.push_back(plan_of(in, ranks));
  plan.entries = {{"step", step_text(in.work)},
                  {"lengths", in.lengths.text},
                  {"costs", in.costs.origin},
                  {"hosts", hosts_text(in.machine)},
                  {"assumed", assumptions(arguments, in.config)},
                  memory_entry(plan.ranks.front().memory)};
  return plan;
}

}  // namespace

void plan(const PlanArguments& arguments, std::ostream& out) {
  const Plan made = make_plan(arguments);
  out << (arguments.json ? json_of(made).dump(2) + "\n" : text_of(made));
  flush_output(out);
}

}  // namespace lie
