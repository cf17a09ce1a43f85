#include "learner/sft/sft_options.h"

#include <fmt/format.h>

namespace lie {
namespace {

void describe_data(FieldList& fields, SftOptions& options) {
  fields.add("train_file", options.train_file,
             {.help = "JSONL or Parquet file of prompts with responses, or of conversations.",
              .unit = "path"});
  add_evaluation_file(fields, options.evaluation_file);
  describe(fields, static_cast<PromptOptions&>(options));
  fields.add(
      "messages_field", options.messages_field,
      {"Field of a conversation, a list of messages with role and content. Every assistant turn is "
       "learned. Rows without it have a prompt and a response."});
  fields.add("response_field", options.response_field,
             {"Field of the response, a text. Rows without a field response may have completion."});
}

void describe_run(FieldList& fields, SftOptions& options) {
  fields.add("seed", options.seed,
             {"Seed of the shuffle, and of the weights with model.initialize.", "", 0});
  fields.add("steps", options.steps,
             {"Updates of the run. 0: as many as the epochs have.", "updates", 0});
  fields.add("epochs", options.epochs, {"Passes over the data. Ignored unless steps is 0.", "", 1});
}

/// Describes the settings that only fine-tuning has.
void describe_sft(FieldList& fields, SftOptions& options) {
  fields.add("batch_sequences", options.batch_sequences, {"Rows per update.", "sequences", 1});
  fields.add("max_batch_tokens", options.max_batch_tokens,
             {"Largest number of tokens per update. A batch ends early rather than exceed it.",
              "tokens", 1});
  fields.add("max_sequence_tokens", options.max_sequence_tokens,
             {"Largest length of a row; a longer one is an error. 0: the model's "
              "max_position_embeddings.",
              "tokens", 0});
  fields.add(
      "append_end_of_sequence", options.append_end_of_sequence,
      {"Append the model's end-of-sequence token to every response, unless the template ends "
       "turns by a token of its own. Leave alone."});
  fields.add("loss", options.loss,
             {{"token-mean", SftLoss::kTokenMean}, {"constant", SftLoss::kConstant}},
             {"The sum of the response-token losses is divided by their number (token-mean), or by "
              "constant_divisor (constant)."});
  fields.add("constant_divisor", options.constant_divisor,
             {"With loss constant: the divisor. Ignored otherwise.", "tokens", 1});
}

/// Accepts the keys of earlier versions, which were all in one section.
void rename_keys(FieldList& fields) {
  fields.rename("sft.data", "data.train_file");
  fields.rename("sft.validation_data", "data.evaluation_file");
  fields.rename("sft.validate_every", "evaluation.every");
  for (const char* key :
       {"prompt_template", "prompt_field", "skip_bad_rows", "messages_field", "response_field"}) {
    fields.rename(fmt::format("sft.{}", key), fmt::format("data.{}", key));
  }
  for (const char* key : {"seed", "steps", "epochs"}) {
    fields.rename(fmt::format("sft.{}", key), fmt::format("run.{}", key));
  }
  for (const char* key : {"max_micro_batch_tokens", "activation_mebibytes", "gradient_shards"}) {
    fields.rename(fmt::format("sft.{}", key), fmt::format("update.{}", key));
  }
  fields.rename("sft.optimizer", "optimizer");
  fields.rename("sft.checkpoint", "checkpoint");
}

}  // namespace

void describe(FieldList& fields, SftOptions& options) {
  fields.section("run", [&] { describe_run(fields, options); });
  fields.section("data", [&] { describe_data(fields, options); });
  fields.section("evaluation", [&] {
    fields.add("every", options.validate_every,
               {"Updates between measurements of the loss on data.evaluation_file. 0: after the "
                "last update only.",
                "updates", 0});
  });
  fields.section("sft", [&] { describe_sft(fields, options); });
  fields.section("update", options.trainer);
  fields.section("optimizer", options.optimizer);
  fields.section("checkpoint", options.checkpoint);
  rename_keys(fields);
}

}  // namespace lie
