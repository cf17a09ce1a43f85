#include "tools/reference_lengths/reference_lengths.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "actors/generator.h"
#include "common/comm/environment.h"
#include "common/error.h"
#include "common/file.h"
#include "common/log.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/train/devices.h"
#include "tools/train/run_prompts.h"
#include "tools/train/train_config.h"

namespace lie {
namespace {

double mean_length(const RolloutGroup& group) {
  double tokens = 0;
  for (const Response& response : group.responses)
    tokens += static_cast<double>(response.ids.size());
  return tokens / static_cast<double>(group.responses.size());
}

std::vector<double> measure(const TrainConfig& config, const std::vector<Prompt>& prompts,
                            std::int64_t samples) {
  const Tokenizer tokenizer = Tokenizer::load(config.model.path);
  const auto operators = make_operators(config.model, static_cast<int>(usable_cpus().size()));
  const Weights weights = load_weights(config.model.path);
  Transformer policy(weights, *operators);
  Generator generator(policy, *operators, weights.config(), config.rollout,
                      static_cast<std::uint64_t>(config.run.seed),
                      [&](const Prompt& prompt) { return tokenizer.encode(prompt.text); });
  std::vector<double> lengths;
  for (const RolloutGroup& group :
       generate_all(generator, prompts, static_cast<std::int32_t>(samples), Purpose::kTrain)) {
    lengths.push_back(mean_length(group));
  }
  return lengths;
}

/// The dataset's rows with their lengths; load_prompts has checked them already.
std::string annotated_rows(const std::filesystem::path& dataset,
                           const std::vector<double>& lengths) {
  std::istringstream rows(read_file(dataset));
  std::string output, line;
  for (std::size_t i = 0; std::getline(rows, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    auto row = nlohmann::ordered_json::parse(line);
    row["reference_length"] = lengths.at(i++);
    output += row.dump() + "\n";
  }
  return output;
}

}  // namespace

void reference_lengths(Job& job, const ReferenceLengthsArguments& arguments) {
  job.set_activity("measuring reference lengths");
  if (job.size() > 1) {
    fail("reference-lengths runs on one rank, not {}: start it without mpirun", job.size());
  }
  const TrainConfig config = load_train_config(arguments.config, arguments.overrides);
  const std::vector<Prompt> prompts =
      read_run_prompts(config.data.train_file, config.data, config.model.path).prompts;
  const std::vector<double> lengths = measure(config, prompts, arguments.samples);
  write_file_atomically(arguments.output, annotated_rows(config.data.train_file, lengths));
  double sum = 0;
  for (const double length : lengths) sum += length;
  Log("actor", 0)
      .info("{}: {} prompts, mean reference length {:.1f} tokens of {} samples each",
            arguments.output.string(), lengths.size(), sum / static_cast<double>(lengths.size()),
            arguments.samples);
}

}  // namespace lie
