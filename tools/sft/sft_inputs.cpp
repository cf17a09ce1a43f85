#include "tools/sft/sft_inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "common/base/error.h"
#include "common/io/sha256.h"
#include "common/process/log.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "model/weights/weights.h"
#include "tools/run/config/config_warnings.h"
#include "tools/run/config/policy_config.h"
#include "tools/run/input/prompts.h"
#include "tools/run/input/sft_remarks.h"

namespace lie {
namespace {

/// Returns the conversion of this run's texts to token ids. `tokenizer` must outlive the result.
SftEncoding encoding_of(const SftConfig& config, const Tokenizer& tokenizer,
                        const EndTokens& ends) {
  const PromptTemplate text =
      prompt_template(config.sft.prompt_template, config.model.path, config.sft.begin_of_sequence);
  SftEncoding encoding{
      .encode = [&tokenizer](std::string_view t) { return tokenizer.encode(t); },
      .prompt = [text](std::span<const ChatMessage> messages) { return text.prompt(messages); },
      .response =
          [text](std::span<const ChatMessage> messages, const ChatMessage& answer) {
            return text.answer(messages, answer.content, answer.reasoning);
          },
      .end_of_sequence = {},
      .end_of_turn = std::string(text.end_of_turn())};
  for (const std::int64_t id : ends.ids) {
    const std::int32_t one[] = {static_cast<std::int32_t>(id)};
    encoding.ends.push_back({tokenizer.decode(one, /*skip_special=*/false), one[0]});
  }
  if (!config.sft.append_end_of_sequence || !text.end_of_turn().empty()) return encoding;
  if (ends.ids.empty()) {
    fail("{}/config.json: eos_token_id is missing; add it, or set sft.append_end_of_sequence false",
         config.model.path);
  }
  encoding.end_of_sequence = static_cast<std::int32_t>(ends.ids.front());
  return encoding;
}

std::vector<SftExample> examples(const SftConfig& config, const std::string& file,
                                 const SftEncoding& encoding, const ModelConfig& model,
                                 bool is_first) {
  const std::int64_t longest =
      config.sft.max_sequence_tokens > 0 ? config.sft.max_sequence_tokens : model.max_positions;
  SftData data = load_sft_examples(file, config.sft, encoding, longest);
  if (is_first && !data.skipped.empty()) {
    Log("sft", 0).warn("{} of {} rows of {} skipped; the first: {}", data.skipped.size(), data.rows,
                       file, data.skipped.front());
  }
  if (is_first) {
    for (const std::string& remark : data.remarks) Log("sft", 0).warn("{}: {}", file, remark);
  }
  return std::move(data.examples);
}

/// Warns of likely mistakes in the rows of all files, and of a template that does not fit.
void warn_of_texts(const SftConfig& config, const Tokenizer& tokenizer) {
  const Log log("sft", 0);
  const PromptTemplate prompts =
      prompt_template(config.sft.prompt_template, config.model.path, config.sft.begin_of_sequence);
  std::vector<std::string> files = {config.sft.train_file};
  std::ranges::copy(config.sft.evaluation_file, std::back_inserter(files));
  for (const std::string& file : files) {
    for (const std::string& remark :
         sft_remarks(file, config.sft, tokenizer.special_tokens(), prompts)) {
      log.warn("{}: {}", file, remark);
    }
  }
  log.warn_if_any(template_warning(config.sft.prompt_template, config.model.path));
}

}  // namespace

SftInputs read_inputs(const SftConfig& config, int learners, bool is_first) {
  SftInputs inputs{.model = trained_config(config.model, config.model.path),
                   .ends = end_tokens(config.model.path, config.sft.prompt_template),
                   .learners = learners};
  if (is_first) Log("sft", 0).warn_each(config.former_keys);
  if (is_first && !config.initialize) {  // checks the files
    plan_weights(config.model.path, config.model.adapter);
    check_trained(config.model);
  }
  const Tokenizer tokenizer = Tokenizer::load(config.model.path);
  const SftEncoding encoding = encoding_of(config, tokenizer, inputs.ends);
  check_distinct_files("data.evaluation_file", config.sft.evaluation_file);
  inputs.train = examples(config, config.sft.train_file, encoding, inputs.model, is_first);
  for (const std::string& file : config.sft.evaluation_file) {
    std::ranges::move(examples(config, file, encoding, inputs.model, is_first),
                      std::back_inserter(inputs.held_out));
  }
  if (is_first) warn_of_texts(config, tokenizer);
  return inputs;
}

InputRecord record_of(const SftConfig& config, const SftInputs& inputs, bool has_weights) {
  const auto rows = [](const std::vector<SftExample>& examples) {
    std::vector<std::uint64_t> digests;
    for (const SftExample& example : examples) {
      const std::string parts[] = {fmt::format("{}", fmt::join(example.prompt, " ")),
                                   fmt::format("{}", fmt::join(example.response, " "))};
      digests.push_back(row_digest(parts));
    }
    return rows_record(std::move(digests));
  };
  InputRecord record =
      model_record(config.model, config.sft, inputs.ends, has_weights && !config.initialize);
  record.train_file = config.sft.train_file;
  record.evaluation_file = fmt::format("{}", fmt::join(config.sft.evaluation_file, ", "));
  record.training = rows(inputs.train);
  record.evaluation = rows(inputs.held_out);
  return record;
}

void warn_of_common_rows(const SftConfig& config, const SftInputs& inputs) {
  const auto digest = [](const SftExample& example) {
    return sha256_hex(fmt::format("{}", fmt::join(example.prompt, " ")));
  };
  std::unordered_set<std::string> prompts;
  if (!inputs.held_out.empty()) {
    for (const SftExample& example : inputs.train) prompts.insert(digest(example));
  }
  const auto common = std::ranges::count_if(inputs.held_out, [&](const SftExample& example) {
    return prompts.contains(digest(example));
  });
  if (common == 0) return;
  Log("sft", 0).warn(
      "data.evaluation_file: {} of {} evaluation examples are training examples by their prompt, "
      "so the validation loss also measures what was memorized; remove them from {}",
      common, inputs.held_out.size(), config.sft.train_file);
}

}  // namespace lie
