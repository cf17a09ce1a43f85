#include "tools/eval/eval_config.h"

#include "common/base/error.h"
#include "common/config/config.h"

namespace lie::evaluation {
EvalConfig::EvalConfig() {
  rollout.sampling.temperature = 0.6;
  rollout.sampling.max_response_tokens = 32768;
}

void describe(FieldList& fields, EvalOptions& options) {
  fields.add("file", options.file,
             {.help = "JSONL or Parquet file of the problems.", .unit = "path"});
  fields.add("sources", options.sources, {"Data sources to evaluate; empty: all."});
  fields.add("prompts", options.prompts,
             {.help = "Evaluate only this many rows of these sources, from the first; 0: all.",
              .unit = "prompts",
              .min = 0});
  fields.add("samples_per_prompt", options.samples_per_prompt,
             {.help = "Responses sampled for each row. Equal rows are one problem: a file that "
                      "holds AIME 32 times gives Avg@32 with 1 here.",
              .unit = "responses",
              .min = 1,
              .max = 65536});
  fields.add("seed", options.seed, {.help = "Seed of sampling and bootstrap.", .min = 0});
  fields.add("choice_patterns", options.choice_patterns,
             {"Where a choice question's response has no letter in its box, take the one that the "
              "published patterns find: \"answer: B\", \"answer is B\", \"choose B\"."});
  fields.add("write_texts", options.write_texts,
             {"Write samples.jsonl: text, answer and verdict of each response."});
  fields.add(
      "keep_binding", options.keep_binding,
      {"Keep the binding to cores that mpirun gave each rank, instead of sharing the host."});
}

void describe(FieldList& fields, EvalConfig& config) {
  fields.section("run", config.run);
  fields.section("eval", config.eval);
  fields.section("table", config.table);
  fields.section("model", config.model);
  fields.section("data", config.data);
  fields.section("rollout", config.rollout);
  fields.section("coverage", config.coverage);
  fields.section("coverage", config.metric_coverage);
  fields.section("verifier", config.verifier);
  fields.section("verifier", config.verifier_program);
}

EvalConfig load_eval_config(const std::filesystem::path& path,
                            std::span<const std::string> overrides) {
  EvalConfig config;
  load_config(fields_of(config), path, overrides);
  if (config.model.path.empty()) {
    fail("model.path is not set: name the Hugging Face directory of the model to evaluate");
  }
  if (config.eval.file.empty()) {
    fail("eval.file is not set: name the JSONL or Parquet file of the problems");
  }
  metric_states(config.coverage, config.metric_coverage);  // checks them
  config.rollout.evaluation = config.rollout.sampling;
  config.data.keep_rows = true;  // verifier.command may be set after generation
  return config;
}

}  // namespace lie::evaluation
