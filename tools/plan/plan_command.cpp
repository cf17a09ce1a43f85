#include "tools/plan/plan_command.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/base/error.h"
#include "common/comm/environment.h"
#include "common/process/program.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/plan/calibration.h"
#include "tools/plan/plan_text.h"
#include "tools/plan/workload.h"
#include "tools/run/config/devices.h"
#include "tools/run/input/prompts.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using namespace planning;

constexpr double kAssumedBytesPerSecond = 1.25e9;  // 10 Gbit/s
constexpr std::int64_t kPromptsRead = 256;         // whose lengths tell a usual prompt's

bool is_on_gpu(const TrainConfig& config) { return config.model.device.starts_with("cuda"); }

/// Lengths, and what they are.
struct KnownLengths {
  Lengths lengths;
  std::string text;
  MeanTokens mean;
};

KnownLengths described(Lengths lengths, const std::string& origin, const TrainConfig& config) {
  constexpr std::int64_t kGroups = 256;
  const std::int64_t samples = config.tickets.samples_per_prompt;
  std::int64_t prompts = 0, responses = 0;
  for (std::int64_t g = 0; g < kGroups; ++g) {
    const GroupLengths group = lengths.group(1, g, samples);
    prompts += group.prompt;
    for (const std::int64_t tokens : group.responses) responses += tokens;
  }
  return {lengths,
          origin + ": " + describe_lengths(lengths, kGroups, samples),
          {.prompt = std::max<std::int64_t>(prompts / kGroups, 1),
           .response = std::max<std::int64_t>(responses / (kGroups * samples), 1)}};
}

bool holds_a_log(const fs::path& run) {
  if (!fs::is_directory(run / "trajectories")) return false;
  return std::ranges::any_of(fs::directory_iterator(run / "trajectories"),
                             [](const auto& entry) { return entry.path().extension() == ".h5"; });
}

KnownLengths logged(const fs::path& run, const TrainConfig& config) {
  std::vector<GroupLengths> groups = logged_lengths(run);
  const std::string origin = fmt::format("{} groups of {}", groups.size(), run.string());
  return described({std::move(groups), static_cast<std::uint64_t>(config.run.seed)}, origin,
                   config);
}

KnownLengths known_lengths(const PlanArguments& arguments, const TrainConfig& config,
                           std::int64_t prompt_tokens) {
  if (!arguments.lengths.empty()) return logged(arguments.lengths, config);
  const bool is_stated = arguments.median_tokens > 0;
  if (!is_stated && holds_a_log(config.run.directory)) return logged(config.run.directory, config);
  const std::int64_t longest = config.rollout.sampling.max_response_tokens;
  const double median =
      is_stated ? arguments.median_tokens : std::max(static_cast<double>(longest) / 4, 1.0);
  const LogNormalLengths stated{median, arguments.sigma, longest, prompt_tokens};
  const std::string origin = fmt::format("{}, log-normal with median {:.4g} and sigma {:.3g}",
                                         is_stated ? "stated" : "assumed", median, arguments.sigma);
  return described({stated, static_cast<std::uint64_t>(config.run.seed)}, origin, config);
}

/// Throws Error where something is missing that costs are measured with.
void check_measurable(const TrainConfig& config) {
  const fs::path model = config.model.path;
  const bool is_whole = fs::exists(model / "model.safetensors");
  for (const fs::path& path :
       {model / (is_whole ? "model.safetensors" : "model.safetensors.index.json"),
        model / "tokenizer.json", fs::path(config.data.train_file)}) {
    if (fs::exists(path)) continue;
    fail(
        "{} is not there: costs are measured with the model's weights, its tokenizer and the data; "
        "to plan without them give --costs FILE, which lie_cluster plan --json writes where they "
        "are",
        path.string());
  }
}

/// The prompts to measure with, empty where costs are given.
std::vector<Prompt> prompts_of(const PlanArguments& arguments, const TrainConfig& config) {
  if (!arguments.costs.empty()) return {};
  check_measurable(config);
  return read_run_prompts(config.data.train_file, config.data, config.model.path).prompts;
}

/// Tokens of a usual prompt; of the config's longest where none are read.
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
               const std::vector<Prompt>& prompts, const KnownLengths& known) {
  if (!arguments.costs.empty()) return read_costs(arguments.costs);
  std::vector<int> threads = {1, static_cast<int>(usable_cpus().size())};
  if (config.model.threads > 0) threads = {static_cast<int>(config.model.threads)};
  if (is_on_gpu(config) || threads.back() == 1) threads.resize(1);
  Costs costs = measure_costs({config, prompts, known.mean.prompt, known.mean.response}, threads);
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

/// What is not taken from a measurement.
std::string assumptions(const PlanArguments& arguments, const TrainConfig& config,
                        const Question& question, const std::vector<RanksPlan>& plans) {
  std::vector<std::string> texts;
  if (arguments.costs.empty() && arguments.bytes_per_second == 0) {
    texts.push_back(fmt::format("{:.3g} GB/s between ranks", kAssumedBytesPerSecond / 1e9));
  }
  std::int64_t most = 1;
  for (const RanksPlan& plan : plans) {
    const RoleLayout& layout = plan.splits.front().layout;
    for (const Role role : {Role::kActor, Role::kLearner}) {
      most = std::max<std::int64_t>(most, layout.threads(layout.ranks(role).front(), role));
    }
  }
  const std::int64_t known = question.costs.ranks.back().threads;
  if (question.set_threads == 0 && most > known) {
    texts.push_back(fmt::format("{} threads no faster than the {} known", most, known));
  }
  if (config.evaluation.every > 0) texts.push_back("no evaluations");
  if (config.checkpoint.every > 0) texts.push_back("no checkpoints");
  texts.push_back("messages take no time");
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string step_text(const Question& question, const TrainConfig& config) {
  const Workload& work = question.workload;
  return fmt::format(
      "{} prompts with {} responses, {} prompts an update, staleness {}, {} responses in flight",
      work.prompts_per_step, work.samples_per_prompt, config.update.mini_batch_prompts,
      work.max_staleness, work.generator.in_flight);
}

std::string hosts_text(const Machine& machine) {
  const std::string ranks = machine.ranks_per_host > 0
                                ? fmt::format("{} ranks a host", machine.ranks_per_host)
                                : "all ranks on one host";
  if (machine.cores == 0) return ranks + ", which share no cores";
  return fmt::format("{} of {} cores", ranks, machine.cores);
}

std::int64_t cores_of(const PlanArguments& arguments, const TrainConfig& config) {
  if (arguments.cores >= 0) return arguments.cores;
  return is_on_gpu(config) ? 0 : std::ssize(usable_cpus());
}

Plan make_plan(const PlanArguments& arguments) {
  const TrainConfig config = load_train_config(arguments.config, arguments.overrides);
  const ModelConfig model = model_of(config);
  const std::vector<Prompt> prompts = prompts_of(arguments, config);
  const KnownLengths known = known_lengths(arguments, config, tokens_of(prompts, config));
  const ComputeDTypes dtypes = is_on_gpu(config) ? ComputeDTypes(DType::kBFloat16)
                                                 : make_operators(config.model, 1)->dtypes();
  Question question{.workload = workload_of(config, model, dtypes.packed, known.mean),
                    .costs = costs_of(arguments, config, prompts, known),
                    .lengths = known.lengths,
                    .machine = {arguments.ranks_per_host, cores_of(arguments, config)},
                    .configured = config.roles,
                    .set_threads = config.model.threads,
                    .shares_weights = config.roles.share_weights && can_share_weights(config.model),
                    .steps = arguments.steps};
  if (arguments.bytes_per_second > 0) question.costs.bytes_per_second = arguments.bytes_per_second;
  Plan plan{.config = arguments.config, .facts = {}, .costs = question.costs, .ranks = {}};
  for (const std::int64_t ranks : arguments.ranks) {
    std::vector<Split> splits = splits_of(question, ranks);
    plan.ranks.push_back(
        {ranks, memory_of_roles(config, model, dtypes, splits.front().layout), std::move(splits)});
  }
  plan.facts = {{"step", step_text(question, config)},
                {"lengths", known.text},
                {"costs", question.costs.origin},
                {"hosts", hosts_text(question.machine)},
                {"assumed", assumptions(arguments, config, question, plan.ranks)},
                memory_fact(plan.ranks.front().memory)};
  return plan;
}

}  // namespace

void plan(const PlanArguments& arguments, std::ostream& out) {
  const Plan made = make_plan(arguments);
  out << (arguments.json ? json_of(made).dump(2) + "\n" : text_of(made));
  flush_output(out);
}

}  // namespace lie
