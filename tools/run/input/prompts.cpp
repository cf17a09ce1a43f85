#include "tools/run/input/prompts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/dataset/row_remarks.h"
#include "common/io/json_lines.h"
#include "common/text/counted.h"
#include "common/text/scan.h"
#include "model/tokenizer/template/templates.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/input/contradictions.h"
#include "tools/run/input/special_tokens.h"
#include "verifier/verify.h"

namespace lie {
namespace {

/// Returns "amc" for "data/amc.parquet", or the path itself if another file has the same name.
std::string source_of_file(std::span<const std::string> files, const std::string& file) {
  const auto name_of = [](const std::filesystem::path& path) { return path.stem().string(); };
  const std::string name = name_of(file);
  return std::ranges::count(files, name, name_of) > 1 ? file : name;
}

/// Numbers the rows of several files one after another, so that no two prompts have the same
/// Prompt::problem, and gives rows without a data source of their own the name of their file, which
/// no earlier file has as its source.
class NumberedRows {
 public:
  explicit NumberedRows(std::span<const std::string> files) : files_(files) {}

  /// Numbers the next file's rows.
  void number(const std::string& file, Dataset& dataset) {
    std::string name = files_.size() > 1 ? source_of_file(files_, file) : "";
    if (earlier_.contains(name)) name = file;
    for (Prompt& prompt : dataset.prompts) {
      prompt.problem += rows_;
      if (prompt.data_source.empty()) prompt.data_source = name;
    }
    rows_ += dataset.rows;
  }
  /// Notes the sources of the file's prompts that are used. Returns those that earlier files have,
  /// too.
  std::set<std::string> taken(std::span<const Prompt> prompts) {
    std::set<std::string> own, shared;
    for (const Prompt& prompt : prompts) own.insert(prompt.data_source);
    std::ranges::set_intersection(own, earlier_, std::inserter(shared, shared.end()));
    earlier_.merge(own);
    return shared;
  }

 private:
  std::span<const std::string> files_;
  std::set<std::string> earlier_;  // data sources of the previous files
  std::int64_t rows_ = 0;          // rows of the previous files
};

/// Returns the special tokens of a model directory, none if it has no tokenizer.json.
std::vector<std::string> special_tokens_of(const std::filesystem::path& model_directory) {
  if (!std::filesystem::exists(model_directory / "tokenizer.json")) return {};
  return Tokenizer::load(model_directory).special_tokens();
}

/// Says how far the reading of a large file is, so that a start is not silent for minutes.
class ReadingProgress {
 public:
  explicit ReadingProgress(std::filesystem::path file) : file_(std::move(file)) {}

  void count_row() {
    if (++rows_ < shown_at_) return;
    shown_at_ *= 2;
    Log("data", 0).info("reading {}: {} rows so far", file_.string(), rows_);
  }

 private:
  std::filesystem::path file_;
  std::int64_t rows_ = 0, shown_at_ = 200'000;
};

/// Returns whether the prompt lacks the text of a message. A template may drop thoughts of earlier
/// answers.
bool leaves_out(std::string_view prompt, std::span<const ChatMessage> messages) {
  return std::ranges::any_of(messages, [&](const ChatMessage& message) {
    return message.role != "assistant" && prompt.find(trimmed(message.content)) == prompt.npos;
  });
}

void append_counts(Dataset& dataset) {
  const RowCounts& counts = dataset.counts;
  if (counts.digit_keys > 0) {
    dataset.remarks.push_back(
        fmt::format("{} of {} rows give the correct choice as a number; its letter is used",
                    counts.digit_keys, dataset.rows));
  }
  if (counts.without_gold > 0) {
    dataset.remarks.push_back(
        fmt::format("{} of {} rows have no correct answer: the built-in verifier rewards no "
                    "response to them; a program decides by its field correct",
                    counts.without_gold, dataset.rows));
  }
  std::ranges::move(row_remarks(counts, dataset.rows), std::back_inserter(dataset.remarks));
}

/// Remarks on a field that the config names and no row has.
void append_absent_source(Dataset& dataset, const RowOptions& options) {
  const bool is_named = options.data_source_field != RowOptions().data_source_field;
  if (!is_named || std::ranges::any_of(dataset.prompts, [](const Prompt& prompt) {
        return !prompt.data_source.empty();
      })) {
    return;
  }
  dataset.remarks.push_back(
      fmt::format("no row has the field {}, which data.data_source_field names: results by data "
                  "source are of one source without a name",
                  options.data_source_field));
}

void append_unreadable_golds(Dataset& dataset) {
  std::int64_t count = 0;
  std::string first;
  for (const Prompt& prompt : dataset.prompts) {
    const std::string reason = unreadable_gold(prompt.gold);
    if (reason.empty()) continue;
    if (++count == 1) {
      first = fmt::format("row {}, {}: {}", prompt.problem + 1, json_quoted(prompt.gold), reason);
    }
  }
  if (count == 0) return;
  dataset.remarks.push_back(
      fmt::format("the verifier cannot read {} of {} correct answers, which reward no response; "
                  "the first: {}",
                  count, dataset.prompts.size(), first));
}

/// Warns of prompts that have different correct answers in different files. Those of one file
/// follow one another, as many as `sizes` says.
void warn_of_contradictions(std::string_view key, std::span<const std::string> names,
                            std::span<const std::int64_t> sizes, std::span<const Prompt> prompts,
                            const RowOptions& options, const Log& log) {
  std::vector<FilePrompts> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto size = static_cast<std::size_t>(sizes[i]);
    files.push_back({names[i], prompts.first(size)});
    prompts = prompts.subspan(size);
  }
  const std::string text = contradictions_text(files, !options.keep_rows);
  if (!text.empty()) log.warn("{}: {}", key, text);
}

}  // namespace

void check_distinct_files(std::string_view key, std::span<const std::string> files,
                          std::string_view remedy) {
  std::map<std::filesystem::path, std::string> found;
  for (const std::string& file : files) {
    const auto [first, is_new] = found.try_emplace(std::filesystem::weakly_canonical(file), file);
    if (is_new) continue;
    fail("{}: {} and {} are one file, and its rows would be read twice; name it once{}", key,
         first->second, file, remedy);
  }
}

Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory) {
  const PromptTemplate prompts =
      prompt_template(options.prompt_template, model_directory, options.begin_of_sequence);
  ReadingProgress progress(file);
  return read_dataset(file, options, [&](std::span<const ChatMessage> messages) {
    progress.count_row();
    return prompts.prompt(messages);
  });
}

std::string joined_turns_text(std::int64_t count, std::int64_t rows,
                              std::string_view prompt_template) {
  if (count == 0) return "";
  return fmt::format(
      "{} of {} rows are conversations with earlier answers, whose texts the template {} joins "
      "without saying who speaks; set data.prompt_template to one with roles, such as model",
      count, rows, prompt_template);
}

Dataset read_remarked_prompts(const std::filesystem::path& file, const RowOptions& options,
                              const std::filesystem::path& model_directory) {
  const PromptTemplate prompts =
      prompt_template(options.prompt_template, model_directory, options.begin_of_sequence);
  SpecialTokenSearch specials(special_tokens_of(model_directory));
  ReadingProgress progress(file);
  std::int64_t joined = 0, shortened = 0;
  const auto render = [&](std::span<const ChatMessage> messages) {
    progress.count_row();
    specials.add(messages);
    const bool has_answer =
        std::ranges::find(messages, "assistant", &ChatMessage::role) != messages.end();
    joined += prompts.joins_messages() && has_answer ? 1 : 0;
    std::string prompt = prompts.prompt(messages);
    shortened += leaves_out(prompt, messages) ? 1 : 0;
    return prompt;
  };
  Dataset dataset = read_dataset(file, options, render);
  append_counts(dataset);
  append_absent_source(dataset, options);
  specials.append_remark(dataset.remarks);
  std::string turns = joined_turns_text(joined, dataset.rows, prompts.name);
  if (!turns.empty()) dataset.remarks.push_back(std::move(turns));
  if (shortened > 0) {
    dataset.remarks.push_back(fmt::format(
        "the template {} leaves out a system or user message of {} of {} rows; correct the "
        "template, or the rows",
        prompts.name, shortened, dataset.rows));
  }
  std::string suffix = suffix_remark(options);
  if (!suffix.empty()) dataset.remarks.push_back(std::move(suffix));
  // A program that reads the rows may have correct answers of any kind.
  if (!options.keep_rows) append_unreadable_golds(dataset);
  std::string contradictions = contradictions_text(dataset.prompts, !options.keep_rows);
  if (!contradictions.empty()) dataset.remarks.push_back(std::move(contradictions));
  return dataset;
}

Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory, const Log& log) {
  Dataset dataset = read_remarked_prompts(file, options, model_directory);
  log.warn_if_any(skipped_rows_text(dataset));
  for (const std::string& remark : dataset.remarks) log.warn("{}: {}", file.string(), remark);
  return dataset;
}

TrainingPrompts read_training_prompts(const DataOptions& options,
                                      const std::filesystem::path& model_directory,
                                      const Log* log) {
  check_distinct_files("data.train_file", options.train_file,
                       ", and set data.train_weights for a larger share of it");
  TrainingPrompts training;
  NumberedRows rows(options.train_file);
  RowOptions reading = options;
  reading.read_accuracy = options.accuracy_field;
  for (const std::string& file : options.train_file) {
    Dataset dataset = log != nullptr ? read_run_prompts(file, reading, model_directory, *log)
                                     : read_run_prompts(file, reading, model_directory);
    rows.number(file, dataset);
    rows.taken(dataset.prompts);
    training.file_sizes.push_back(std::ssize(dataset.prompts));
    std::ranges::move(dataset.prompts, std::back_inserter(training.prompts));
    std::ranges::move(dataset.accuracies, std::back_inserter(training.accuracies));
  }
  if (log != nullptr) {
    warn_of_contradictions("data.train_file", options.train_file, training.file_sizes,
                           training.prompts, options, *log);
  }
  return training;
}

std::vector<Prompt> read_evaluation_prompts(std::span<const std::string> files,
                                            std::int64_t prompts_of_file, const RowOptions& options,
                                            const std::filesystem::path& model_directory,
                                            const Log& log, std::span<const std::string> sources) {
  check_distinct_files("data.evaluation_file", files);
  std::vector<Prompt> prompts;
  std::vector<std::int64_t> sizes;  // prompts of each file
  std::set<std::string> all;        // data sources of all rows
  NumberedRows rows(files);
  for (const std::string& file : files) {
    Dataset dataset = read_run_prompts(file, options, model_directory, log);
    rows.number(file, dataset);
    for (const Prompt& prompt : dataset.prompts) all.insert(prompt.data_source);
    std::erase_if(dataset.prompts, [&](const Prompt& prompt) {
      return !sources.empty() && std::ranges::find(sources, prompt.data_source) == sources.end();
    });
    if (prompts_of_file > 0 && prompts_of_file < std::ssize(dataset.prompts)) {
      dataset.prompts.resize(static_cast<std::size_t>(prompts_of_file));
    }
    for (const std::string& source : rows.taken(dataset.prompts)) {
      log.info("data source {}: rows of {} count together with those of earlier files", source,
               file);
    }
    sizes.push_back(std::ssize(dataset.prompts));
    std::ranges::move(dataset.prompts, std::back_inserter(prompts));
  }
  warn_of_contradictions("data.evaluation_file", files, sizes, prompts, options, log);
  for (const std::string& source : sources) {
    if (all.contains(source)) continue;
    fail(
        "evaluation.sources: no row of {} has the data source {}; they have {} (by the field {}, "
        "which data.data_source_field names)",
        fmt::join(files, ", "), source,
        all == std::set<std::string>{""} ? "none" : fmt::format("{}", fmt::join(all, ", ")),
        options.data_source_field);
  }
  return prompts;
}

void warn_of_truncation(const Log& log, std::int64_t truncated, std::int64_t prompts,
                        std::int64_t max_prompt_tokens) {
  if (truncated == 0) return;
  log.warn(
      "{} of {} prompts are longer than rollout.max_prompt_tokens {} and lost their first tokens",
      truncated, prompts, max_prompt_tokens);
}

}  // namespace lie
