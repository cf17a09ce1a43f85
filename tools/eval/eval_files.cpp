#include "tools/eval/eval_files.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "common/base/identity.h"
#include "common/base/run_files.h"
#include "common/config/config.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/io/metrics_log.h"
#include "common/rollout/verdict.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/writer.h"
#include "learner/record/step_metrics.h"

namespace lie::evaluation {
namespace {

nlohmann::ordered_json sample_json(const ScoredGroup& group, std::size_t i,
                                   const DecodeText& decode) {
  const Prompt& prompt = group.rollout.ticket.prompt;
  const Response& response = group.rollout.responses[i];
  const bool ended = response.finish == FinishReason::kEndOfSequence;
  return {{"row", prompt.problem},
          {"sample", i},
          {"data_source", prompt.data_source},
          {"gold", prompt.gold},
          {"answer", group.scores[i].extracted},
          {"verdict", name(group.scores[i].verdict)},
          {"tokens", response.ids.size()},
          {"finish", ended ? "end_of_sequence" : "length"},
          {"prompt", prompt.text},
          {"response", decode(response.ids)}};
}

TrajectoryInfo info_of(const EvalConfig& config, const InputRecord& inputs) {
  return {.build_id = std::string(build_id()),
          .config = dump_config_of(config),
          .seed = static_cast<std::uint64_t>(config.seed),
          .model_sha256 = policy_sha256(inputs),
          .tokenizer_sha256 = inputs.tokenizer,
          .rewards = reward_names({})};
}

}  // namespace

std::vector<GradedProblem> grade_problems(std::span<const ScoredGroup> groups, Grader& grader,
                                          const VerifierOptions& options) {
  using Key = std::tuple<std::string, std::string, std::string>;
  std::map<Key, std::size_t> number;
  std::vector<GradedProblem> problems;
  for (const ScoredGroup& group : groups) {
    const Prompt& prompt = group.rollout.ticket.prompt;
    const auto [found, fresh] =
        number.emplace(Key{prompt.data_source, prompt.text, prompt.gold}, problems.size());
    if (fresh) problems.emplace_back().data_source = prompt.data_source;
    for (GradedSample& sample : grader.grade(group)) {
      problems[found->second].samples.push_back(std::move(sample));
    }
  }
  for (GradedProblem& problem : problems) {
    problem.answer_class = answer_classes(problem.samples, options);
  }
  return problems;
}

void write_table_files(const Table& table, const fs::path& directory) {
  write_file_atomically(directory / "table.txt", table_text(table));
  write_json(table_json(table), directory / "table.json");
}

void write_samples(std::span<const ScoredGroup> groups, const DecodeText& decode,
                   const fs::path& directory) {
  std::string lines;
  for (const ScoredGroup& group : groups) {
    for (std::size_t i = 0; i < group.scores.size(); ++i) {
      lines += sample_json(group, i, decode)
                   .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      lines += '\n';
    }
  }
  write_file_atomically(directory / "samples.jsonl", lines);
}

void write_as_run(std::span<const ScoredGroup> groups, const EvalConfig& config,
                  const InputRecord& inputs) {
  const fs::path directory = config.run.directory;
  make_directories(directory / kTrajectories);
  remove_segments(directory / kTrajectories);
  StepRecord record;
  for (const ScoredGroup& group : groups) record.groups.push_back({group, {}});
  TrajectoryInfo info = info_of(config, inputs);
  const std::set<std::string> numbers = number_names(groups);
  info.numbers.assign(numbers.begin(), numbers.end());
  TrajectoryWriter writer(directory / kTrajectories, info);
  writer.append(record);
  writer.close();
  StepOutcome step;
  step.evaluation.assign(groups.begin(), groups.end());
  MetricsLog(directory / kMetricsFile, {})
      .append({.step = 0, .wall_time = 0, .values = step_metrics(step, {})});
}

}  // namespace lie::evaluation
