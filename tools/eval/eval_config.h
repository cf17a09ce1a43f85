// All options of an evaluation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "actors/rollout_options.h"
#include "common/config/options.h"
#include "common/dataset/dataset.h"
#include "rewards/coverage.h"
#include "rewards/program.h"
#include "tools/eval/eval_table.h"
#include "tools/run/config/options.h"
#include "verifier/rules/options.h"

namespace lie::evaluation {

/// Which problems are evaluated, and how often.
struct EvalOptions {
  std::string file;
  std::vector<std::string> sources;
  std::int64_t prompts = 0;
  std::int64_t samples_per_prompt = 1;
  std::int64_t seed = 1;
  bool choice_patterns = false;
  bool write_texts = true;
  bool keep_binding = false;
};
void describe(FieldList& fields, EvalOptions& options);

struct EvalConfig {
  DirectoryOptions run{"runs/eval"};
  EvalOptions eval;
  TableOptions table;
  ModelOptions model;
  RowOptions data;
  RolloutOptions rollout;  // sampling equals evaluation: temperature 0.6, 32k tokens
  CoverageOptions coverage;
  MetricCoverageOptions metric_coverage;
  VerifierOptions verifier;
  VerifierProgramOptions verifier_program;

  EvalConfig();
};
void describe(FieldList& fields, EvalConfig& config);

/// Reads a config and its overrides. Throws Error as load_config does.
EvalConfig load_eval_config(const std::filesystem::path& path,
                            std::span<const std::string> overrides);

}  // namespace lie::evaluation
