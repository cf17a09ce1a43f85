// lie_cluster reference-lengths: measures L_ref, the response length of the initial policy, and its
// accuracy, for each prompt.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "common/base/error.h"
#include "common/comm/message_file.h"
#include "common/comm/wire.h"
#include "common/config/config.h"
#include "common/dataset/parquet.h"
#include "common/dataset/rows.h"
#include "common/io/file.h"
#include "common/io/output_file.h"
#include "common/io/sha256.h"
#include "common/process/log.h"
#include "model/tokenizer/tokenizer.h"
#include "rewards/reward_worker.h"
#include "tools/arguments/config_command.h"
#include "tools/arguments/values.h"
#include "tools/cluster/commands.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/train_config.h"
#include "tools/run/input/end_tokens.h"
#include "tools/run/input/prompts.h"
#include "tools/run/roles/generation.h"
#include "tools/run/roles/group_progress.h"
#include "tools/run/roles/scoring_source.h"
#include "tools/run/start/input_record.h"
#include "tools/run/start/resume.h"
#include "tools/run/start/run_summary.h"

namespace lie {
namespace {

struct ReferenceLengthsArguments {
  ConfigArguments config;        // of the training run: model, data.train_file, rollout
  std::filesystem::path output;  // the rows of data.train_file with the measured fields
  std::int64_t samples = 4;      // responses to each prompt
};

/// Throws Error if the rows cannot be written to `output`, before hours of measuring. The output
/// must not replace a file that the run reads.
void check_output(const ReferenceLengthsArguments& arguments, const TrainConfig& config,
                  const fs::path& input) {
  const fs::path& output = arguments.output;
  const auto is_output = [&](const fs::path& file) {
    std::error_code missing;  // an output that does not exist yet is no other file
    return fs::equivalent(file, output, missing);
  };
  const auto refuse = [&](const char* what) {
    fail("--output {} is {} itself: name another file", output.string(), what);
  };
  if (is_output(input)) refuse("data.train_file");
  if (std::ranges::any_of(config.data.evaluation_file, is_output)) refuse("data.evaluation_file");
  if (is_output(arguments.config.config)) refuse("the config");
  if (output.extension() == ".parquet" && !is_parquet(input)) {
    fail("--output {}: rows of JSONL are written as JSONL; name it .jsonl", output.string());
  }
  if (output.has_parent_path()) make_directories(output.parent_path());
  check_place(output);
  if (fs::exists(output)) Log("actor", 0).warn("{} will be replaced", output.string());
}

/// Returns a hash of everything that the measurement depends on: the content of model and data, and
/// the settings of sampler and verifier. It excludes slots, ranks and threads.
std::string measurement_of(TrainConfig config, const EndTokens& ends, const Dataset& dataset,
                           std::int64_t samples) {
  const SamplingOptions& sampling = config.rollout.sampling;
  FieldList verifier;
  verifier.section("verifier", config.verifier);
  verifier.section("verifier", config.verifier_program);
  InputRecord inputs = model_record(config.model, config.data, ends);
  inputs.training = prompt_rows(dataset.prompts);
  return sha256_hex(fmt::format("{} {} {} {} {} {} {} {} {} {} {}", record_sha256(inputs),
                                dump_config(verifier), config.reward.command, config.model.device,
                                config.run.seed, samples, sampling.temperature, sampling.top_p,
                                sampling.top_k, sampling.max_response_tokens,
                                config.rollout.max_prompt_tokens));
}

/// What is measured of a prompt: means over its responses.
struct Measured {
  double length = 0;  // L_ref in tokens, end of sequence included
  double accuracy = 0;
};

using MeasuredRows = std::map<std::int64_t, Measured>;  // by row of the data

/// The measured rows, kept next to the output so that a killed measurement resumes. The file's name
/// ends in the hash of what they depend on, so that another measurement starts anew.
class Measurement {
 public:
  explicit Measurement(fs::path path) : path_(std::move(path)) {
    const MessageFileState state = read_messages(path_, [&](std::span<const std::byte> message) {
      count(wire::unpack<ScoredGroup>(message));
    });
    if (!state.refusal.empty()) fail("{}", state.refusal);
    Log("actor", 0).warn_each(state.damage);
    file_.emplace(path_, state.valid_bytes);
  }

  void add(const ScoredGroup& group) {
    file_->append(wire::pack(group));
    count(group);
  }
  /// Removes the file once the output is written.
  void remove() {
    file_.reset();
    remove_file(path_);
  }

  const MeasuredRows& by_row() const { return by_row_; }
  std::int64_t responses = 0, at_limit = 0;  // at_limit: cut at the response limit
  std::int64_t truncated = 0;                // prompts that lost tokens

 private:
  void count(const ScoredGroup& group) {
    const RolloutGroup& rollout = group.rollout;
    double tokens = 0;
    for (const Response& response : rollout.responses) {
      tokens += static_cast<double>(response.ids.size());
      at_limit += response.finish == FinishReason::kLength ? 1 : 0;
    }
    responses += std::ssize(rollout.responses);
    truncated += rollout.prompt_tokens_dropped > 0 ? 1 : 0;
    const auto size = static_cast<double>(rollout.responses.size());
    const auto correct = std::ranges::count(group.scores, VerdictCode::kEqual, &Score::verdict);
    by_row_[rollout.ticket.prompt.problem] = {.length = tokens / size,
                                              .accuracy = static_cast<double>(correct) / size};
  }

  fs::path path_;
  MeasuredRows by_row_;
  std::optional<MessageFile> file_;
};

/// Returns one ticket for each prompt that was not measured.
std::deque<Ticket> tickets_of(const Dataset& dataset, const Measurement& measured,
                              std::int64_t samples) {
  std::deque<Ticket> tickets;
  for (std::int64_t group = 0; const Prompt& prompt : dataset.prompts) {
    if (!measured.by_row().contains(prompt.problem)) {
      tickets.push_back(
          {.group = group, .samples = static_cast<std::int32_t>(samples), .prompt = prompt});
    }
    ++group;
  }
  return tickets;
}

/// Returns one of the measured numbers for each row; NaN for rows that were skipped as bad.
std::vector<double> column_of(const MeasuredRows& measured, double Measured::*number,
                              std::int64_t rows) {
  std::vector<double> values(static_cast<std::size_t>(rows),
                             std::numeric_limits<double>::quiet_NaN());
  for (const auto& [row, numbers] : measured) {
    values[static_cast<std::size_t>(row)] = numbers.*number;
  }
  return values;
}

/// Names of the fields that are written: those that the run reads. A name with dots is written as
/// one field, which readers prefer to the path of this name.
struct WrittenFields {
  std::string length, accuracy;
};

WrittenFields written_fields(const DataOptions& data) {
  const auto or_default = [](const std::string& name, const char* otherwise) {
    return name.empty() ? std::string(otherwise) : name;
  };
  return {.length = or_default(data.reference_length_field, "reference_length"),
          .accuracy = or_default(data.accuracy_field, "accuracy")};
}

/// Returns the rows that were measured, with their numbers added.
std::string lines_of(const fs::path& input, const MeasuredRows& measured,
                     const WrittenFields& fields) {
  std::string text;
  std::vector<std::string> skipped;  // bad rows were not measured
  for_each_row(
      input,
      [&](const JsonRow& row, std::int64_t number) {
        const auto found = measured.find(number);
        if (found == measured.end()) return;
        nlohmann::json object = row.object();
        object[fields.length] = found->second.length;
        object[fields.accuracy] = found->second.accuracy;
        text += object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
      },
      &skipped);
  return text;
}

void write_rows(const fs::path& input, const fs::path& output, const MeasuredRows& measured,
                std::int64_t rows, const WrittenFields& fields) {
  if (is_parquet(input) && output.extension() == ".parquet") {
    const NumberColumn columns[] = {
        {fields.length, column_of(measured, &Measured::length, rows)},
        {fields.accuracy, column_of(measured, &Measured::accuracy, rows)}};
    add_parquet_columns(input, output, columns);
  } else {
    write_file_atomically(output, lines_of(input, measured, fields));
  }
}

/// Returns the words of the training command that follow the program: the config and the overrides
/// of the measurement, with the measured rows as data.
std::vector<std::string> train_words(const ReferenceLengthsArguments& arguments) {
  std::vector<std::string> words = {arguments.config.config};
  const auto set = [&words](const std::string& text) {
    words.insert(words.end(), {"--set", text});
  };
  for (const std::string& text : arguments.config.overrides) {
    if (!text.starts_with("data.train_file=")) set(text);
  }
  set("data.train_file=" + arguments.output.string());
  set("reward.length.target=reference");
  return words;
}

void log_summary(const ReferenceLengthsArguments& arguments, const TrainConfig& config,
                 const Dataset& dataset, const Measurement& measured) {
  double sum = 0, accuracy = 0;
  for (const auto& [row, numbers] : measured.by_row()) {
    sum += numbers.length;
    accuracy += numbers.accuracy;
  }
  const auto prompts = std::ssize(dataset.prompts);
  const Log log("actor", 0);
  log.warn_if_any(skipped_rows_text(dataset));
  warn_of_truncation(log, measured.truncated, prompts, config.rollout.max_prompt_tokens);
  if (measured.at_limit > 0) {
    log.warn(
        "{} of {} responses reached rollout.max_response_tokens {}: L_ref of their prompts is a "
        "lower bound; raise the limit and measure again, or train with these",
        measured.at_limit, measured.responses, config.rollout.sampling.max_response_tokens);
  }
  const std::string output = arguments.output.string();
  const std::vector<SummaryEntry> entries = {
      {"prompts", std::to_string(prompts)},
      {"L_ref", fmt::format("{:.1f} tokens on average", sum / static_cast<double>(prompts))},
      {"accuracy", fmt::format("{:.3f} on average", accuracy / static_cast<double>(prompts))},
      next_command_entry("lie_cluster", "train", train_words(arguments))};
  log.info("{}", run_summary_text(output, entries));
}

/// Scores groups by the verifier and the programs of the run.
class AccuracyScorer {
 public:
  AccuracyScorer(Job& job, const TrainConfig& config)
      : tokenizer_(Tokenizer::load(config.model.path)),
        scorer_(verdict_options(config),
                {.rank = job.rank(), .poll_progress = [&job] { job.poll_progress(); }}) {}

  ScoredGroup operator()(RolloutGroup group) {
    return score_group(scorer_, std::move(group), [this](std::span<const std::int32_t> ids) {
      return tokenizer_.response_text(ids);
    });
  }
  void finish() { scorer_.finish(); }

 private:
  /// Returns the run's options without its reward terms, which may need the length to be measured.
  static ScoringOptions verdict_options(const TrainConfig& config) {
    ScoringOptions options = scoring_options(config);
    for (const std::string& term : reward_sections()) switch_off(options.rewards, term);
    options.metric_coverage = {};
    options.budgets = {};
    return options;
  }

  Tokenizer tokenizer_;
  Scorer scorer_;
};

/// Returns data.train_file. Throws Error unless it is one file.
fs::path one_train_file(const TrainConfig& config) {
  if (config.data.train_file.size() == 1) return config.data.train_file.front();
  fail(
      "data.train_file names {} files: measure them one at a time, by --set data.train_file=FILE{}",
      config.data.train_file.size(),
      config.data.train_weights.empty() ? "" : " --set data.train_weights=[]");
}

/// Samples from model.path as the run's actors would, over all ranks, and writes the rows with each
/// prompt's mean response length in tokens (end of sequence included) and its accuracy. The output
/// is Parquet if the data is Parquet and the output's name ends in .parquet, else JSONL. Rows
/// skipped by data.skip_bad_rows are omitted from JSONL and have NaN in Parquet. If it is killed
/// and started again, it continues from `output`.progress-HASH. The output does not depend on the
/// number of ranks. Collective over the world. Throws Error.
void reference_lengths(Job& job, const ReferenceLengthsArguments& arguments) {
  job.set_role("actor");
  job.set_activity("preparing");
  job.begin_start();
  const TrainConfig config = load_train_config(arguments.config.config, arguments.config.overrides);
  const EndTokens ends = end_tokens(config.model.path, config.data.prompt_template, config.rollout);
  GenerationOptions generation{.model = config.model,
                               .rollout = config.rollout,
                               .seed = static_cast<std::uint64_t>(config.run.seed),
                               .keep_binding = config.roles.keep_binding};
  generation.rollout.end_of_sequence_ids = ends.ids;
  if (job.rank() > 0) return run_generation_actor(job, generation);

  const Log log("actor", 0);
  log.warn_each(config.former_keys);
  log.warn_if_any(template_warning(config.data.prompt_template, config.model.path));
  log.warn_if_any(generation_warning(config.model.path));
  log.info("responses {}", ends.text);
  const fs::path input = one_train_file(config);
  const Dataset dataset = read_run_prompts(input, config.data, config.model.path);
  check_output(arguments, config, input);
  become_writer(job, arguments.output, "lie_cluster reference-lengths");
  Measurement measured(fmt::format("{}.progress-{:.8}", arguments.output.string(),
                                   measurement_of(config, ends, dataset, arguments.samples)));
  std::deque<Ticket> tickets = tickets_of(dataset, measured, arguments.samples);
  GroupProgress progress(stderr, std::ssize(dataset.prompts), std::ssize(measured.by_row()),
                         {.responses = arguments.samples * std::ssize(tickets),
                          .limit = config.rollout.sampling.max_response_tokens,
                          .in_flight = config.rollout.slots * job.size()});
  AccuracyScorer scorer(job, config);
  generate_over_ranks(
      job, generation, std::move(tickets),
      [&](RolloutGroup group) { return scorer(std::move(group)); },
      [&](const ScoredGroup& group) {
        measured.add(group);
        progress.add(group.rollout);
      },
      [&](std::int64_t tokens) { progress.sampled(tokens); });
  scorer.finish();
  progress.finish();
  write_rows(input, arguments.output, measured.by_row(), dataset.rows, written_fields(config.data));
  log_summary(arguments, config, dataset, measured);
  measured.remove();
}

}  // namespace

void add_reference_lengths(CLI::App& program, JobCommand& chosen) {
  const auto arguments = std::make_shared<ReferenceLengthsArguments>();
  CLI::App* measure = program.add_subcommand(
      "reference-lengths",
      "Measure the initial policy's response length and accuracy for every training prompt; also "
      "under mpirun");
  add_config(*measure, arguments->config, explain_config_of<TrainConfig>);
  measure
      ->add_option("--output", arguments->output,
                   "File to write: the rows with reference_length and accuracy, as .parquet if the "
                   "data is Parquet, else JSONL")
      ->required();
  add_integer(*measure, "--samples", arguments->samples, "Responses sampled for each prompt", 1);
  measure->callback(
      [&chosen, arguments] { chosen = [=](Job& job) { reference_lengths(job, *arguments); }; });
}

}  // namespace lie
