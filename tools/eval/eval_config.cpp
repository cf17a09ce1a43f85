#include "tools/eval/eval_config.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/config/config.h"

namespace lie::evaluation {

constexpr std::int64_t kMostTokens = 32768;  // of a response, by default

void describe(FieldList& fields, EvalOptions& options) {
  fields.add("sources", options.sources, {"Data sources to evaluate; empty: all."});
  fields.add("choice_patterns", options.choice_patterns,
             {"Where a choice question's response has no letter in its box, take the one that the "
              "published patterns find: \"answer: B\", \"answer is B\", \"choose B\"."});
  fields.add("write_texts", options.write_texts,
             {"Write samples.jsonl: text, answer and verdict of each response."});
}

namespace {

/// Accepts keys of earlier versions, in which sections had other names.
void rename_keys(FieldList& fields) {
  fields.rename("eval.file", "data.evaluation_file");
  fields.rename("eval.seed", "run.seed");
  fields.rename("eval.keep_binding", "roles.keep_binding");
  fields.rename("eval", "evaluation");
  fields.rename("table", "evaluation");
  for (const char* key :
       {"temperature", "top_p", "top_k", "max_response_tokens", "min_response_tokens"}) {
    fields.rename(fmt::format("rollout.{}", key), fmt::format("evaluation.{}", key));
  }
  fields.rename("coverage.unit", "reward.coverage.unit");
  fields.rename("coverage.ngram", "reward.coverage.ngram");
}

}  // namespace

void describe(FieldList& fields, EvalConfig& config) {
  fields.section("run", config.run);
  fields.add("run.seed", config.seed, {.help = "Seed of sampling.", .min = 0});
  fields.section("model", config.model);
  fields.section("data", [&] { add_evaluation_file(fields, config.files); });
  fields.section("data", config.data);
  fields.add(
      "roles.keep_binding", config.keep_binding,
      {"Keep the binding to cores that mpirun gave each rank, instead of sharing the host."});
  fields.section("rollout", config.rollout);
  fields.section("evaluation", [&] {
    add_evaluation_prompts(fields, config.evaluation);
    describe_evaluation(fields, config.rollout.evaluation);
  });
  fields.section("evaluation", config.eval);
  fields.section("evaluation", config.table);
  fields.section("reward.coverage", config.coverage);
  fields.section("coverage", config.metric_coverage);
  fields.section("verifier", config.verifier);
  fields.section("verifier", config.verifier_program);
  rename_keys(fields);
}

EvalConfig load_eval_config(const std::filesystem::path& path,
                            std::span<const std::string> overrides) {
  EvalConfig config;
  config.former_keys = load_config(fields_of(config), path, overrides);
  if (config.model.path.empty()) {
    fail("model.path is not set: name the Hugging Face directory of the model to evaluate");
  }
  if (config.files.empty()) {
    fail("data.evaluation_file is not set: name one or more JSONL or Parquet files of problems");
  }
  metric_states(config.coverage, config.metric_coverage);  // checks them
  config.data.keep_rows = true;  // verifier.command may be set after generation
  config.data.gold_optional = !config.verifier_program.command.empty();
  return config;
}

void fit_to_model(EvalConfig& config, const ModelConfig& model) {
  std::int64_t& limit = config.rollout.evaluation.max_response_tokens;
  std::int64_t& prompt_limit = config.rollout.max_prompt_tokens;
  if (limit >= model.max_positions) {
    fail(
        "evaluation.max_response_tokens {} leaves no position for a prompt: the model has {} "
        "(max_position_embeddings in its config.json); lower it",
        limit, model.max_positions);
  }
  if (prompt_limit >= model.max_positions) {  // leaves no response
    prompt_limit = limit > 0 ? model.max_positions - limit : model.max_positions / 2;
  }
  const std::int64_t left = model.max_positions - prompt_limit;
  if (limit == 0) limit = std::max<std::int64_t>(1, std::min(kMostTokens, left));
  check_lengths(config.rollout.evaluation, "evaluation");
  config.rollout.sampling = config.rollout.evaluation;
  check_fits_model(config.rollout, model);
  std::erase_if(config.table.budgets, [&](std::int64_t budget) { return budget > limit; });
}

}  // namespace lie::evaluation
