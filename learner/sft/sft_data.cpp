#include "learner/sft/sft_data.h"

#include <iterator>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/dataset/field_names.h"
#include "common/dataset/rows.h"
#include "learner/trainer/packing.h"

namespace lie {
namespace {

/// Shuffles by Fisher-Yates with counter-based random numbers: a pure function of its arguments.
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

/// An assistant turn and the messages before it.
struct Turn {
  std::vector<ChatMessage> prompt;
  std::string response;
};

std::vector<Turn> turns_of_chat(const JsonRow& row, const std::string& field) {
  std::vector<Turn> turns;
  std::vector<ChatMessage> before;
  for (ChatMessage& message : chat_messages(row, field)) {
    if (message.role == "assistant") {
      if (before.empty() || before.back().role != "user") {
        fail("{}: field {}: an assistant turn does not follow a user turn; correct the row",
             row.place(), field);
      }
      turns.push_back({before, message.content});
    }
    before.push_back(std::move(message));
  }
  if (turns.empty()) {
    fail("{}: field {} has no assistant turn, hence nothing to learn", row.place(), field);
  }
  return turns;
}

/// Throws Error naming the fields of the row if `field` is not one of them.
void require(const JsonRow& row, const std::string& field, const char* key) {
  if (row.has(field)) return;
  fail("{}: no field {}; {}; set data.{}, or data.messages_field for conversations", row.place(),
       field, fields_text(row), key);
}

std::vector<Turn> turns_of(const JsonRow& row, const SftRowOptions& options) {
  if (row.is_list(options.messages_field)) return turns_of_chat(row, options.messages_field);
  require(row, options.prompt_field, "prompt_field");
  Turn turn;
  if (row.is_list(options.prompt_field)) {
    turn.prompt = chat_messages(row, options.prompt_field);
    if (turn.prompt.empty() || turn.prompt.back().role != "user") {
      fail("{}: field {} does not end with a user turn; correct the row", row.place(),
           options.prompt_field);
    }
  } else {
    turn.prompt = {{"user", row.required_text(options.prompt_field)}};
  }
  require(row, options.response_field, "response_field");
  turn.response = row.required_text(options.response_field);
  return {std::move(turn)};
}

SftExample encoded(const Turn& turn, const SftEncoding& encoding) {
  SftExample example;
  example.prompt = encoding.encode(encoding.prompt ? encoding.prompt(turn.prompt)
                                                   : joined_contents(turn.prompt));
  example.response = encoding.encode(
      encoding.response ? encoding.response(turn.prompt, turn.response) : turn.response);
  if (encoding.end_of_sequence) example.response.push_back(*encoding.end_of_sequence);
  return example;
}

void check_example(const JsonRow& row, const SftExample& example, std::int64_t max_tokens) {
  if (example.prompt.empty() || example.response.empty()) {
    fail("{}: prompt or response is empty; each needs at least one token", row.place());
  }
  const auto tokens = static_cast<std::int64_t>(example.prompt.size() + example.response.size());
  if (max_tokens > 0 && tokens > max_tokens) {
    fail("{}: {} tokens exceed the limit of {}; shorten the row or raise sft.max_sequence_tokens",
         row.place(), tokens, max_tokens);
  }
}

}  // namespace

SftData load_sft_examples(const std::filesystem::path& path, const SftRowOptions& options,
                          const SftEncoding& encoding, std::int64_t max_tokens) {
  SftData data;
  const auto add_row = [&](const JsonRow& row, std::int64_t) {
    std::vector<SftExample> examples;
    for (const Turn& turn : turns_of(row, options)) {
      examples.push_back(encoded(turn, encoding));
      check_example(row, examples.back(), max_tokens);
    }
    std::move(examples.begin(), examples.end(), std::back_inserter(data.examples));
  };
  data.rows = for_each_row(path, add_row, options.skip_bad_rows ? &data.skipped : nullptr);
  if (data.examples.empty()) {
    fail("{}: every row is bad; the first one: {}", path.string(), data.skipped.front());
  }
  return data;
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

SftOptions with_schedule(SftOptions options, std::span<const SftExample> examples) {
  if (options.steps == 0) {
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
      options.steps += std::ssize(sft_batches(examples, options, epoch));
    }
  }
  if (options.optimizer.schedule == Schedule::kCosine && options.optimizer.decay_until == 0) {
    options.optimizer.decay_until = options.steps;
  }
  check_options(options.optimizer);
  return options;
}

}  // namespace lie
