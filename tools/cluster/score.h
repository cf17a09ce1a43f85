// lie_cluster score: log-probs of given responses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/run/config/model_options.h"

namespace lie {

struct ScoreArguments {
  ModelOptions model = {};
  std::filesystem::path input = {};  // JSONL of prompts and responses; "-": standard input
  double temperature = 1;            // above 0
  bool add_special_tokens = false;
  std::vector<std::string> overrides = {};  // key=value of data.*: how rows become prompts
  bool entropies = false;                   // write the entropies, too
  std::int64_t batch_tokens = 2048;         // tokens of one forward pass, at least one row
};

/// Writes each row with "log_probs" added (one for each response token, in nats, of logits /
/// temperature) and, if it had texts, their ids. The numbers depend neither on other rows nor on
/// batch_tokens and threads. Throws Error before anything is computed if a row is invalid.
void score(const ScoreArguments& arguments, std::ostream& out);

}  // namespace lie
