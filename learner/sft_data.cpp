#include "learner/sft_data.h"

#include <numeric>
#include <utility>

#include "common/error.h"
#include "common/json_lines.h"
#include "common/random.h"
#include "learner/batch.h"

namespace lie {
namespace {

/// Fisher-Yates by the counter-based generator: a pure function of (seed, epoch, count).
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomKey key{.seed = seed, .stream = kShuffleStream, .step = static_cast<std::uint32_t>(epoch)};
  for (std::size_t i = count; i > 1; --i) {
    key.index = static_cast<std::uint32_t>(i);
    std::swap(order[i - 1], order[random_bits(key) % i]);
  }
  return order;
}

void describe_data(FieldList& fields, SftOptions& options) {
  fields.add("data", options.data, {"JSONL file with the fields prompt and response."});
  fields.add("validation_data", options.validation_data,
             {"JSONL file for the validation loss; empty: none."});
  fields.add("append_end_of_sequence", options.append_end_of_sequence,
             {"Append the model's end-of-sequence token to every response."});
  fields.add("max_sequence_tokens", options.max_sequence_tokens,
             {"A longer row is an error; 0: the model's max_position_embeddings.", "tokens", 0});
  fields.add("seed", options.seed, {"Seed of the shuffle.", "", 0});
}

}  // namespace

void describe(FieldList& fields, SftOptions& options) {
  describe_data(fields, options);
  fields.add("steps", options.steps, {"Updates; 0: as many as the epochs have.", "updates", 0});
  fields.add("epochs", options.epochs, {"Passes over the data, where steps is 0.", "", 1});
  fields.add("batch_sequences", options.batch_sequences, {"Rows per update.", "sequences", 1});
  fields.add("max_batch_tokens", options.max_batch_tokens,
             {"A batch ends early rather than exceed this.", "tokens", 1});
  fields.add(
      "max_micro_batch_tokens", options.max_micro_batch_tokens,
      {"Tokens of one forward and backward pass; bounds memory, changes no result.", "tokens", 1});
  fields.add("loss", options.loss,
             {{"token-mean", SftLoss::kTokenMean}, {"constant", SftLoss::kConstant}},
             {"Sum of response-token losses divided by their number or by constant_divisor."});
  fields.add("constant_divisor", options.constant_divisor,
             {"With loss constant: the divisor.", "tokens", 1});
  fields.add("validate_every", options.validate_every,
             {"Updates between validations; 0: after the last only.", "updates", 0});
  fields.section("optimizer", options.optimizer);
  fields.section("checkpoint", options.checkpoint);
}

std::vector<SftExample> load_sft_examples(const std::filesystem::path& path, const Encode& encode,
                                          std::optional<std::int32_t> end_of_sequence,
                                          std::int64_t max_tokens) {
  std::vector<SftExample> examples;
  for (const JsonRow& row : read_json_lines(path)) {
    SftExample example{encode(row.required_text("prompt")), encode(row.required_text("response"))};
    if (end_of_sequence) example.response.push_back(*end_of_sequence);
    const auto tokens = static_cast<std::int64_t>(example.prompt.size() + example.response.size());
    if (example.prompt.empty() || example.response.empty()) {
      fail("{}: prompt or response is empty; each needs at least one token", row.place());
    }
    if (max_tokens > 0 && tokens > max_tokens) {
      fail("{}: {} tokens, the limit is {}; shorten the row or raise sft.max_sequence_tokens",
           row.place(), tokens, max_tokens);
    }
    examples.push_back(std::move(example));
  }
  return examples;
}

std::vector<std::vector<std::size_t>> sft_batches(std::span<const SftExample> examples,
                                                  const SftOptions& options, std::int64_t epoch) {
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t held = 0;
  for (const std::size_t i :
       shuffled(examples.size(), static_cast<std::uint64_t>(options.seed), epoch)) {
    const std::int64_t tokens = SequenceTokens{examples[i].prompt, examples[i].response}.tokens();
    const bool full = batches.empty() ||
                      static_cast<std::int64_t>(batches.back().size()) == options.batch_sequences ||
                      held + tokens > options.max_batch_tokens;
    if (full) {
      batches.emplace_back();
      held = 0;
    }
    batches.back().push_back(i);
    held += tokens;
  }
  return batches;
}

}  // namespace lie
