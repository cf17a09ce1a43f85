#include "common/dataset/data_options.h"

#include <fmt/format.h>

namespace lie {

void describe(FieldList& fields, PromptOptions& options) {
  fields.add("prompt_template", options.prompt_template,
             {.help = fmt::format("Prompt template: one of {}; or model: the chat template of "
                                  "model.path. plain: no template.",
                                  kPromptTemplates)});
  fields.add(
      "begin_of_sequence", options.begin_of_sequence,
      {{"auto", BeginOfSequence::kAuto},
       {"always", BeginOfSequence::kAlways},
       {"never", BeginOfSequence::kNever}},
      {"Begin prompts by the token that the tokenizer's post-processor or add_bos_token puts "
       "before a text, once. auto: with prompt_template plain."});
  fields.add("prompt_field", options.prompt_field,
             {"Field of the prompt: a text, or chat messages with role and content."});
  fields.add("skip_bad_rows", options.skip_bad_rows,
             {"Skip malformed rows and report their number, instead of stopping at the first."});
}

void describe(FieldList& fields, RowOptions& options) {
  describe(fields, static_cast<PromptOptions&>(options));
  fields.add("prompt_suffix", options.prompt_suffix,
             {"Text that ends the user's turn, such as an instruction to box the answer."});
  fields.add("choices_field", options.choices_field,
             {"Field of a multiple-choice question's choices, a list of texts (added below the "
              "question as \"A. ...\"); empty: no such questions, or the prompt has the choices."});
  fields.add(
      "first_choice", options.first_choice,
      {.help = "Number of the first choice, if a number names the correct one: 1, or 0 as in "
               "MMLU.",
       .min = 0,
       .max = 1});
  fields.add("gold_field", options.gold_field,
             {"Field of the correct answer; empty: gold, answer or reward_model.ground_truth. With "
              "reward.command or verifier.command a row may then have none."});
  fields.add("data_source_field", options.data_source_field,
             {"Field of the name of the benchmark or corpus; optional."});
  fields.add("reference_length_field", options.reference_length_field,
             {"Field of L_ref; empty: reference_length, or num_tokens less num_tokens_excess."});
  fields.add("num_tokens_excess", options.num_tokens_excess,
             {.help = "Excess of the published num_tokens column over L_ref.", .unit = "tokens"});
}

void add_evaluation_file(FieldList& fields, std::vector<std::string>& files) {
  fields.add_one_or_more(
      "evaluation_file", files,
      {.help = "JSONL or Parquet file of the held-out prompts, or a list of files; empty: no "
               "evaluation. With several files, a row without a data source gets its file's name.",
       .unit = "path"});
}

void describe(FieldList& fields, DataOptions& options) {
  fields.add_one_or_more(
      "train_file", options.train_file,
      {.help = "JSONL or Parquet file of the training prompts, or a list of files. With several "
               "files, a row without a data source gets its file's name.",
       .unit = "path"});
  fields.add("train_weights", options.train_weights,
             {.help = "Weights of the files of data.train_file: of [3, 1] the first gives three "
                      "quarters of the prompts of each pass over the data. A file too small for "
                      "its share is repeated. Empty: every row once in a pass.",
              .min = 1,
              .max = 1000000});
  add_evaluation_file(fields, options.evaluation_file);
  fields.add("shuffle", options.shuffle, {"Shuffle every epoch by the seed; off: file order."});
  fields.add("accuracy_field", options.accuracy_field,
             {"Field of the measured accuracy of a row, from 0 to 1, which lie_cluster "
              "reference-lengths writes as accuracy; for data.accuracy_bands."});
  fields.add("accuracy_bands", options.accuracy_bands,
             {"Curriculum: a range of accuracies for each pass over the data, such as [0.5-1, "
              "0.2-0.8, 0-0.5]. The first pass draws the rows of the first range, and all passes "
              "after the last range those of the last. Empty: every pass draws all rows."});
  describe(fields, static_cast<RowOptions&>(options));
}

PromptOrder prompt_order(const DataOptions& options, std::uint64_t seed) {
  PromptOrder order{.seed = seed, .shuffle = options.shuffle, .weights = options.train_weights};
  for (const std::string& text : options.accuracy_bands) {
    order.bands.push_back(parse_band(text, "data.accuracy_bands"));
  }
  return order;
}

}  // namespace lie
