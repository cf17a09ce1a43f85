#include "tools/run/input/end_tokens.h"

#include <algorithm>

#include "common/base/error.h"
#include "model/config/model_config.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

using Ids = std::vector<std::int64_t>;

/// Appends `id` unless it is already in `ids`.
void add(Ids& ids, std::int64_t id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

/// Throws Error if the tokenizer or the config names a token that the model's embedding lacks.
void check_fit(const ModelConfig& model, const Tokenizer& tokenizer, const fs::path& directory) {
  if (tokenizer.vocabulary_size() > model.vocabulary) {
    fail("{}: its largest token id is {}, but the model's vocab_size is {}; use its own tokenizer",
         (directory / "tokenizer.json").string(), tokenizer.vocabulary_size() - 1,
         model.vocabulary);
  }
  for (const std::int64_t id : model.end_of_sequence_ids) {
    if (id < model.vocabulary) continue;
    fail("{}: its eos_token_id {} is not a token id below the model's vocab_size {}",
         directory.string(), id, model.vocabulary);
  }
}

Ids configured(const RolloutOptions& options, const ModelConfig& model, const Tokenizer& tokenizer,
               const fs::path& directory) {
  Ids ids;
  for (const std::int64_t id : options.end_of_sequence_ids) {
    if (id >= model.vocabulary) {
      fail("rollout.end_of_sequence_ids: {} is not a token id below the model's vocab_size {}", id,
           model.vocabulary);
    }
    add(ids, id);
  }
  for (const std::string& name : options.end_of_sequence_tokens) {
    const auto id = tokenizer.token_to_id(name);
    if (!id) {
      fail(
          "rollout.end_of_sequence_tokens: \"{}\" is not a token of {}; write it as its "
          "added_tokens do, such as \"<|im_end|>\"",
          name, (directory / "tokenizer.json").string());
    }
    add(ids, *id);
  }
  return ids;
}

/// Throws Error if the template begins prompts with a token that the model does not have, whose
/// text would be read as letters. Of other templates the end of a turn shows that they do not fit.
void check_begin(const PromptTemplate& prompts, const Tokenizer& tokenizer,
                 const fs::path& directory) {
  constexpr const char* kBegin = "<|begin_of_text|>";
  if (prompts.own || prompts.name != "octothinker" || tokenizer.token_to_id(kBegin)) return;
  fail(
      "prompt_template octothinker begins prompts with \"{}\", which is not a token of {}; choose "
      "another template",
      kBegin, (directory / "tokenizer.json").string());
}

Ids known(const ModelConfig& model, const Tokenizer& tokenizer, const PromptTemplate& prompts,
          const fs::path& directory) {
  Ids ids(model.end_of_sequence_ids.begin(), model.end_of_sequence_ids.end());
  if (const auto id = tokenizer.end_of_sequence_id()) add(ids, *id);
  if (prompts.end_of_turn().empty()) return ids;
  const auto id = tokenizer.token_to_id(prompts.end_of_turn());
  if (!id) {
    fail(
        "prompt_template {} ends a turn with \"{}\", which is not a token of {}: no response could "
        "end there; choose another template, or, if the command has that key, set "
        "rollout.end_of_sequence_tokens",
        prompts.name, prompts.end_of_turn(), (directory / "tokenizer.json").string());
  }
  add(ids, *id);
  return ids;
}

std::string text_of(const Ids& ids, const Tokenizer& tokenizer) {
  if (ids.empty()) return "no token ends them: neither model nor prompt template names one";
  std::vector<std::string> names;
  for (const std::int64_t id : ids) {
    const std::int32_t one[] = {static_cast<std::int32_t>(id)};
    names.push_back(fmt::format("{} ({})", tokenizer.decode(one, /*skip_special=*/false), id));
  }
  return fmt::format("end at {}", fmt::join(names, ", "));
}

}  // namespace

EndTokens end_tokens(const fs::path& model_directory, std::string_view template_name,
                     const RolloutOptions& options) {
  const ModelConfig model = load_model_config(model_directory);
  const Tokenizer tokenizer = Tokenizer::load(model_directory);
  check_fit(model, tokenizer, model_directory);
  const PromptTemplate prompts = prompt_template(template_name, model_directory);
  check_begin(prompts, tokenizer, model_directory);
  auto ids = configured(options, model, tokenizer, model_directory);
  if (ids.empty()) ids = known(model, tokenizer, prompts, model_directory);
  return {ids, text_of(ids, tokenizer)};
}

}  // namespace lie
