// lie_cluster data: checks a data file as training would read it, and describes it.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "common/base/error.h"
#include "common/config/config.h"
#include "common/io/json_lines.h"
#include "common/text/counted.h"
#include "common/text/printable.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/arguments/values.h"
#include "tools/cluster/commands.h"
#include "tools/cluster/row_arguments.h"
#include "tools/run/input/prompts.h"
#include "verifier/verify.h"

namespace lie {
namespace {

constexpr std::size_t kReasonsShown = 5;

struct DataArguments {
  std::filesystem::path file;   // JSONL or Parquet
  std::filesystem::path model;  // directory with tokenizer.json; empty: lengths in characters
  std::vector<std::string> overrides;  // key=value of data.*
  std::int64_t max_prompt_tokens = 1024;
  bool show_first = false;  // print the first prompt as rendered for the model
};

/// Counts of one data source.
struct SourceCounts {
  std::vector<double> lengths;            // prompt lengths
  std::vector<double> reference_lengths;  // known L_ref
  std::set<std::string> distinct;         // prompt and gold
  std::int64_t truncated = 0;
};

/// Returns minimum, quartiles, 99 % quantile and maximum, by nearest rank.
std::string quantiles(std::vector<double> values) {
  if (values.empty()) return "      -";
  std::sort(values.begin(), values.end());
  std::string text;
  for (const double q : {0.0, 0.25, 0.5, 0.75, 0.99, 1.0}) {
    const auto last = static_cast<double>(values.size() - 1);
    text += fmt::format(" {:6.0f}", values[static_cast<std::size_t>(q * last + 0.5)]);
  }
  return text;
}

double prompt_length(const std::optional<Tokenizer>& tokenizer, const std::string& text) {
  if (tokenizer) return static_cast<double>(tokenizer->encode(text).size());
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  return static_cast<double>(text.size()) -
         static_cast<double>(std::count_if(text.begin(), text.end(), continues));
}

std::map<std::string, SourceCounts> by_source(const Dataset& dataset,
                                              const DataArguments& arguments) {
  std::optional<Tokenizer> tokenizer;
  if (!arguments.model.empty()) tokenizer.emplace(Tokenizer::load(arguments.model));
  std::map<std::string, SourceCounts> sources;
  for (const Prompt& prompt : dataset.prompts) {
    SourceCounts& source = sources[prompt.data_source];
    source.lengths.push_back(prompt_length(tokenizer, prompt.text));
    if (prompt.reference_length >= 0) source.reference_lengths.push_back(prompt.reference_length);
    source.distinct.insert(prompt.text + '\0' + prompt.gold);
    const bool is_long = source.lengths.back() > static_cast<double>(arguments.max_prompt_tokens);
    if (tokenizer && is_long) ++source.truncated;
  }
  return sources;
}

/// Returns two lines for each source, for prompt lengths and L_ref, in 80 columns unless the name
/// is long.
std::string table(const std::map<std::string, SourceCounts>& sources,
                  const DataArguments& arguments) {
  std::string text =
      fmt::format("{:<12} {:>8} {:>8} {:>6}    min    25%    50%    75%    99%    max\n",
                  "data source", "prompts", "distinct", "");
  for (const auto& [name, source] : sources) {
    text += fmt::format("{:<12} {:>8} {:>8} {:>6}{}\n", name.empty() ? "(none)" : name,
                        source.lengths.size(), source.distinct.size(),
                        arguments.model.empty() ? "chars" : "tokens", quantiles(source.lengths));
    text += fmt::format("{:>37}{}\n", "L_ref", quantiles(source.reference_lengths));
  }
  return text;
}

/// Returns a line for each form that golds are written in, such as dates.
std::string forms(const Dataset& dataset) {
  struct Found {
    std::int64_t count = 0;
    std::string first;
  };
  std::map<std::string_view, Found> found;
  for (const Prompt& prompt : dataset.prompts) {
    const std::string_view form = form_of_gold(prompt.gold);
    if (!form.empty() && ++found[form].count == 1) found[form].first = prompt.gold;
  }
  std::string text;
  for (const auto& [form, golds] : found)
    text +=
        fmt::format("{} of {} correct answers are {}, which are compared as such; the first: {}\n",
                    golds.count, dataset.prompts.size(), form, json_quoted(golds.first));
  return text;
}

std::string notes(const Dataset& dataset, const std::map<std::string, SourceCounts>& sources,
                  const DataArguments& arguments) {
  std::string text;
  std::int64_t truncated = 0;
  for (const auto& [name, source] : sources) truncated += source.truncated;
  if (!arguments.model.empty()) {
    text +=
        fmt::format("prompts longer than {1} tokens, which would lose their first tokens: {0}\n",
                    truncated, arguments.max_prompt_tokens);
  }
  for (const std::string& remark : dataset.remarks) text += remark + '\n';
  text += forms(dataset);
  for (std::size_t i = 0; i < std::min(kReasonsShown, dataset.skipped.size()); ++i) {
    text += fmt::format("bad row: {}\n", dataset.skipped[i]);
  }
  if (arguments.show_first) {
    const Prompt& first = dataset.prompts.front();
    text += fmt::format("the first prompt, between the lines:\n----\n{}\n----\ngold: {}\n",
                        first.text, first.gold);
    const std::string answer = answer_in_gold(first.gold);
    if (answer != first.gold) text += fmt::format("the verifier reads: {}\n", answer);
  }
  return text;
}

/// Returns the settings without which training would not find the fields that were found.
std::string found_fields_text(const RowOptions& found) {
  const RowOptions defaults;
  std::string text;
  const auto add = [&](const char* key, const std::string& field, const std::string& otherwise) {
    if (field != otherwise)
      text += fmt::format("{} data.{}={}", text.empty() ? "" : ",", key, field);
  };
  add("prompt_field", found.prompt_field, defaults.prompt_field);
  add("choices_field", found.choices_field, defaults.choices_field);
  add("gold_field", found.gold_field, defaults.gold_field);
  add("data_source_field", found.data_source_field, defaults.data_source_field);
  add("reference_length_field", found.reference_length_field, defaults.reference_length_field);
  return text.empty() ? "" : fmt::format("fields found, which a config must name:{}\n", text);
}

/// Reads the file row by row as training would, but skips bad rows, and describes it. The text has
/// the number of rows and of bad rows, with the first reasons. For each data source it has the
/// number of prompts and of distinct ones, and quantiles of prompt length and L_ref. Throws Error
/// if the file cannot be read or has no valid row.
std::string describe_data(const DataArguments& arguments) {
  const RowOptions options = rows_to_find(arguments.overrides);
  const Dataset dataset = read_remarked_prompts(arguments.file, options, arguments.model);
  const auto sources = by_source(dataset, arguments);
  return fmt::format("{}: {}, {}, {}\n", arguments.file.string(), counted(dataset.rows, "row"),
                     counted(std::ssize(dataset.prompts), "prompt"),
                     counted(std::ssize(dataset.skipped), "bad row")) +
         (options.find_fields ? found_fields_text(dataset.options) : "") +
         table(sources, arguments) + notes(dataset, sources, arguments);
}

}  // namespace

void add_data(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<DataArguments>();
  CLI::App* data =
      program.add_subcommand("data", "Read a data file as training would, and describe it");
  data->add_option("FILE", arguments->file, "JSONL or Parquet")->required();
  data->add_option("--model", arguments->model,
                   "Directory with tokenizer.json: prompt lengths in tokens");
  add_integer(*data, "--max-prompt-tokens", arguments->max_prompt_tokens,
              "Count the prompts that are longer, with --model", 1);
  data->add_flag("--show", arguments->show_first, "Print the first prompt as the model reads it");
  add_row_overrides(*data, arguments->overrides);
  data->footer([] {
    RowOptions options;
    return "\nKeys for --set:\n" + explain_config(row_fields(options), "all");
  });
  data->callback([&chosen, arguments] {
    chosen = [=] { std::fputs(printable(describe_data(*arguments)).c_str(), stdout); };
  });
}

}  // namespace lie
