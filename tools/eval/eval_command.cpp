#include "tools/eval/eval_command.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/run_files.h"
#include "common/comm/message_file.h"
#include "common/comm/wire.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/process/log.h"
#include "common/process/writer_lock.h"
#include "common/text/counted.h"
#include "common/text/printable.h"
#include "model/tokenizer/tokenizer.h"
#include "rewards/program.h"
#include "tools/arguments/config_command.h"
#include "tools/eval/choices.h"
#include "tools/eval/eval_config.h"
#include "tools/eval/eval_files.h"
#include "tools/eval/grader.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/memory_plan.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/input/prompts.h"
#include "tools/run/roles/generation.h"
#include "tools/run/roles/group_progress.h"
#include "tools/run/start/input_difference.h"
#include "tools/run/start/input_record.h"
#include "tools/run/start/resume.h"
#include "tools/run/start/run_summary.h"

namespace lie {
namespace {

using namespace evaluation;
/// The prompts of an evaluation by row number, which is also the number of their group.
using PromptsByRow = std::map<std::int64_t, Prompt>;

std::string files_text(const EvalConfig& config) {
  return fmt::format("{}", fmt::join(config.files, ", "));
}

PromptsByRow prompts_of(const EvalConfig& config) {
  const Log log("eval", 0);
  std::vector<Prompt> prompts =
      read_evaluation_prompts(config.files, config.evaluation.prompts, config.data,
                              config.model.path, log, config.eval.sources);
  log.warn_if_any(greedy_warning(config.rollout.sampling, config.evaluation.samples_per_prompt));
  log.warn_if_any(template_warning(config.data.prompt_template, config.model.path));
  log.warn_if_any(generation_warning(config.model.path));
  if (const std::int64_t digits = count_digit_keys(prompts); digits > 0) {
    log.warn(
        "{}: {} of {} problems have a digit as gold where others of their source have a choice "
        "letter; they are graded as numbers",
        files_text(config), digits, prompts.size());
  }
  PromptsByRow by_row;
  for (Prompt& prompt : prompts) {
    const std::int64_t row = prompt.problem;
    by_row.emplace(row, std::move(prompt));
  }
  return by_row;
}

/// Throws Error if the directory holds another evaluation. How responses are graded may change.
void check_directory(EvalConfig config) {
  const std::string grading[] = {"evaluation.prompts",
                                 "evaluation.write_texts",
                                 "evaluation.choice_patterns",
                                 "evaluation.budgets",
                                 "evaluation.ks",
                                 "evaluation.confidence",
                                 "evaluation.resamples",  // of older builds
                                 "reward.coverage",
                                 "coverage",
                                 "verifier"};
  holds_this_run(config.run.directory, fields_of(config), grading);
}

/// Creates the directory, or resumes the evaluation in it. Its responses must be those of `inputs`
/// (invariant E12). The rows are compared with each logged response.
void prepare_directory(Job& job, EvalConfig config, const InputRecord& inputs) {
  check_same_inputs(config.run.directory, inputs);
  open_run_directory(job, config.run.directory, fields_of(config), inputs, "lie_cluster eval", [&] {
    check_directory(config);
    check_same_inputs(config.run.directory, inputs);
  });
}

/// Throws Error if a logged group belongs to another row than the one that has its number now.
void check_same_row(const RolloutGroup& group, const Prompt& now, const fs::path& log) {
  const Prompt& then = group.ticket.prompt;
  if (now.problem == then.problem && now.text == then.text && now.gold == then.gold &&
      now.data_source == then.data_source) {
    return;
  }
  fail(
      "{}: holds responses to row {} with another prompt, gold or data source than "
      "data.evaluation_file has now; restore the row, or name another run.directory",
      log.string(), then.problem + 1);
}

fs::path response_log(const EvalConfig& config) {
  return fs::path(config.run.directory) / "responses.log";
}

MessageFileState read_responses(const fs::path& log,
                                const std::function<void(RolloutGroup)>& visit) {
  MessageFileState state = read_messages(
      log, [&](std::span<const std::byte> message) { visit(wire::unpack<RolloutGroup>(message)); });
  if (!state.refusal.empty()) fail("{}", state.refusal);
  return state;
}

/// Tracks on rank 0 which groups exist, and logs new ones.
class Generation {
 public:
  /// Reads the responses in the directory, and changes nothing there.
  Generation(const EvalConfig& config, PromptsByRow prompts)
      : prompts_(std::move(prompts)), log_path_(response_log(config)) {
    std::set<std::int64_t> done;
    const MessageFileState log = read_responses(log_path_, [&](const RolloutGroup& group) {
      const auto prompt = prompts_.find(group.ticket.group);
      if (prompt == prompts_.end()) return;  // evaluation.prompts was larger then
      check_same_row(group, prompt->second, log_path_);
      done.insert(prompt->first);
    });
    valid_bytes_ = log.valid_bytes;
    Log("eval", 0).warn_each(log.damage);
    for (const auto& [row, prompt] : prompts_) {
      if (done.contains(row)) continue;
      tickets_.push_back(
          {.group = row,
           .purpose = Purpose::kEvaluate,
           .samples = static_cast<std::int32_t>(config.evaluation.samples_per_prompt),
           .prompt = prompt});
    }
  }

  std::deque<Ticket> tickets() const { return tickets_; }
  std::int64_t prompts() const { return std::ssize(prompts_); }
  /// Returns the row of a group as the files have it now; nullptr if it is not evaluated.
  const Prompt* find(std::int64_t group) const {
    const auto found = prompts_.find(group);
    return found == prompts_.end() ? nullptr : &found->second;
  }

  /// Opens the log and returns the function that appends groups to it and keeps them. `budget`: the
  /// tokens of the tickets.
  TakeGroup open_log(const TokenBudget& budget) {
    log_.emplace(log_path_, valid_bytes_);
    const auto prompts = std::ssize(prompts_);
    progress_.emplace(stderr, prompts, prompts - std::ssize(tickets_), budget);
    return [this](ScoredGroup group) {
      log_->append(wire::pack(group.rollout));
      progress_->add(group.rollout,
                     std::ranges::count(group.scores, VerdictCode::kEqual, &Score::verdict));
      const std::int64_t number = group.rollout.ticket.group;
      scored_.emplace(number, std::move(group));
    };
  }

  /// Returns the groups of this start, as they were scored, by their numbers.
  std::map<std::int64_t, ScoredGroup> take_scored() { return std::move(scored_); }

  void sampled(std::int64_t tokens) { progress_->sampled(tokens); }
  void finish() { progress_->finish(); }

 private:
  PromptsByRow prompts_;
  fs::path log_path_;
  std::uint64_t valid_bytes_ = 0;
  std::deque<Ticket> tickets_;
  std::map<std::int64_t, ScoredGroup> scored_;
  std::optional<MessageFile> log_;
  std::optional<GroupProgress> progress_;
};

std::string start_text(const EvalConfig& config, const Generation& generation,
                       const std::string& ends) {
  const WeightsPlan model = plan_weights(config.model.path, config.model.adapter);
  const ComputeDTypes dtypes = make_operators(config.model, 1)->dtypes();
  std::vector<SummaryEntry> entries = {
      model_entry(config.model.path, model.parameters),
      {"data",
       fmt::format("{} of {}, {} each", counted(generation.prompts(), "prompt"), files_text(config),
                   counted(config.evaluation.samples_per_prompt, "response"))}};
  std::ranges::move(text_entries(config.data, config.model.path, config.rollout, ends),
                    std::back_inserter(entries));
  const MemoryPlan memory = actor_memory(model.config, dtypes, config.rollout,
                                         fixed_dtype(config.model, model, dtypes.packed));
  entries.push_back({"memory", "actor " + memory_text(memory) +
                                   cache_text(model.config, dtypes.packed, config.rollout)});
  const auto left = std::ssize(generation.tickets());
  return run_summary_text(
      left == generation.prompts()
          ? config.run.directory + ": a new evaluation"
          : fmt::format("{}: resumes, {} left", config.run.directory, counted(left, "prompt")),
      entries);
}

void log_end(const EvalConfig& config) {
  const fs::path directory = config.run.directory;
  std::vector<SummaryEntry> entries = {{"table", (directory / "table.txt").string()}};
  if (config.eval.write_texts) {
    entries.push_back({"responses", (directory / "samples.jsonl").string()});
  }
  entries.push_back(next_command_entry("lie_analyze", directory.string()));
  Log("eval", 0).info("{}", run_summary_text("done", entries));
}

/// Returns the scored groups of the evaluation's prompts, in canonical order. Scores those of
/// earlier starts.
std::vector<ScoredGroup> score_responses(const EvalConfig& config, Generation& generation,
                                         Grader& grader) {
  std::map<std::int64_t, ScoredGroup> scored = generation.take_scored();
  const auto score_earlier = [&](RolloutGroup group) {
    const std::int64_t number = group.ticket.group;
    const Prompt* prompt = generation.find(number);
    if (prompt == nullptr || scored.contains(number)) return;
    group.ticket.prompt.row = prompt->row;  // whose other fields a verifier program may read
    scored.emplace(number, grader.score(std::move(group)));
  };
  if (std::ssize(scored) < generation.prompts()) {
    read_responses(response_log(config), score_earlier);
  }
  std::vector<ScoredGroup> groups;
  for (auto& [number, group] : scored) groups.push_back(std::move(group));
  return groups;
}

void report(const EvalConfig& config, Generation& generation, Grader& grader,
            const DecodeText& decode, const InputRecord& inputs) {
  const std::vector<ScoredGroup> groups = score_responses(config, generation, grader);
  const auto truncated = std::ranges::count_if(
      groups, [](const ScoredGroup& group) { return group.rollout.prompt_tokens_dropped > 0; });
  warn_of_truncation(Log("eval", 0), truncated, generation.prompts(),
                     config.rollout.max_prompt_tokens);
  const std::vector<GradedProblem> problems = grade_problems(groups, grader, config.verifier);
  const Table table = make_table(problems, config.table);
  write_table_files(table, config.run.directory);
  if (config.eval.write_texts) {
    write_samples(groups, decode, config.run.directory);
  } else {
    remove_file(fs::path(config.run.directory) / "samples.jsonl");  // of other grading settings
  }
  write_as_run(groups, config, inputs);
  std::fputs(printable(table_text(table)).c_str(), stdout);
  std::fflush(stdout);
}

ScoringOptions scoring_options(const EvalConfig& config) {
  ScoringOptions options{.rewards = {},
                         .verifier = config.verifier,
                         .max_response_tokens = config.rollout.sampling.max_response_tokens,
                         .verifier_program = config.verifier_program,
                         .metric_coverage = config.metric_coverage};
  options.rewards.coverage = config.coverage;
  return options;
}

/// Generates the responses that the directory lacks, with the help of the other ranks, and reports.
/// Rank 0 only.
void evaluate_on_rank_0(Job& job, const EvalConfig& config, const GenerationOptions& options,
                        const EndTokens& ends) {
  const Tokenizer tokenizer = Tokenizer::load(config.model.path);
  const DecodeText decode = [&](std::span<const std::int32_t> ids) {
    return tokenizer.response_text(ids);
  };
  Grader grader(scoring_options(config), decode, config.table.budgets,
                {.rank = job.rank(), .poll_progress = [&job] { job.poll_progress(); }},
                config.eval.choice_patterns);
  PromptsByRow prompts = prompts_of(config);
  const InputRecord inputs = model_record(config.model, config.data, ends);
  prepare_directory(job, config, inputs);
  Generation generation(config, std::move(prompts));
  record_this_start(job, config.run.directory, "lie_cluster eval");  // the rows were compared
  Log("eval", 0).info("{}", start_text(config, generation, ends.text));
  generate_over_ranks(
      job, options, generation.tickets(),
      [&](RolloutGroup group) { return grader.score(std::move(group)); },
      generation.open_log(
          {.responses = config.evaluation.samples_per_prompt * std::ssize(generation.tickets()),
           .limit = config.rollout.longest_response(),
           .in_flight = config.rollout.slots * job.size()}),
      [&](std::int64_t tokens) { generation.sampled(tokens); });
  generation.finish();
  job.set_activity("verifying and writing tables");
  report(config, generation, grader, decode, inputs);
  grader.finish();
  log_end(config);
}

/// Logs what a start would find, and writes nothing. Rank 0 only.
void print_plan(const EvalConfig& config, const EndTokens& ends) {
  check_directory(config);
  const bool holds_run = fs::exists(fs::path(config.run.directory) / kConfigFile);
  check_same_inputs(config.run.directory,
                    model_record(config.model, config.data, ends, /*has_weights=*/holds_run));
  check_writable(config.run.directory);
  print_dry_run(dump_config_of(config), "eval",
                start_text(config, Generation(config, prompts_of(config)), ends.text));
}

/// Generates the responses that the directory lacks, over all ranks. Then verifies all responses
/// and writes the tables; table.txt is also printed to standard output. The tables depend neither
/// on the number of ranks nor on how often the program was killed. With `dry_run` it only checks
/// and logs what a start would do. Collective over the world. Throws Error.
void evaluate(Job& job, const ConfigArguments& arguments) {
  job.set_role("actor");
  job.set_activity("preparing");
  EvalConfig config = load_eval_config(arguments.config, arguments.overrides);
  check_command("verifier.command", config.verifier_program.command);
  fit_to_model(config, load_model_config(config.model.path));
  if (job.rank() == 0) Log("eval", 0).warn_each(config.former_keys);
  const EndTokens ends = end_tokens(config.model.path, config.data.prompt_template, config.rollout);
  GenerationOptions options{.model = config.model,
                            .rollout = config.rollout,
                            .seed = static_cast<std::uint64_t>(config.seed),
                            .keep_binding = config.keep_binding};
  options.rollout.end_of_sequence_ids = ends.ids;
  if (arguments.dry_run) {
    if (job.rank() == 0) print_plan(config, ends);
  } else if (job.rank() == 0) {
    evaluate_on_rank_0(job, config, options, ends);
  } else {
    run_generation_actor(job, options);
  }
}

}  // namespace

void add_eval(CLI::App& program, JobCommand& chosen) {
  add_config_command(
      program, chosen, "eval",
      "Measure a model on benchmarks: Avg@k, pass@k, maj@k, token budgets; also under mpirun",
      explain_config_of<EvalConfig>, evaluate);
}

}  // namespace lie
