#include "tools/run/input/prompts.h"

#include <algorithm>
#include <utility>

#include "model/tokenizer/template/templates.h"

namespace lie {
namespace {

/// Returns "amc" for "data/amc.parquet", or the path itself if another file has the same name.
std::string source_of_file(std::span<const std::string> files, const std::string& file) {
  const auto name_of = [](const std::filesystem::path& path) { return path.stem().string(); };
  const std::string name = name_of(file);
  return std::ranges::count(files, name, name_of) > 1 ? file : name;
}

}  // namespace

Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory) {
  const PromptTemplate prompts = prompt_template(options.prompt_template, model_directory);
  return read_dataset(file, options, [&](std::span<const ChatMessage> messages) {
    return prompts.prompt(messages);
  });
}

Dataset read_run_prompts(const std::filesystem::path& file, const RowOptions& options,
                         const std::filesystem::path& model_directory, const Log& log) {
  Dataset dataset = read_run_prompts(file, options, model_directory);
  const std::string skipped = skipped_rows_text(dataset);
  if (!skipped.empty()) log.warn("{}", skipped);
  if (dataset.digit_keys > 0) {
    log.warn("{}: {} of {} rows give the correct choice as a number; its letter is used",
             file.string(), dataset.digit_keys, dataset.rows);
  }
  return dataset;
}

std::vector<Prompt> read_evaluation_prompts(std::span<const std::string> files,
                                            std::int64_t prompts_of_file, const RowOptions& options,
                                            const std::filesystem::path& model_directory,
                                            const Log& log) {
  std::vector<Prompt> prompts;
  std::int64_t rows = 0;  // rows of the previous files
  for (const std::string& file : files) {
    Dataset dataset = read_run_prompts(file, options, model_directory, log);
    if (prompts_of_file > 0 && prompts_of_file < std::ssize(dataset.prompts)) {
      dataset.prompts.resize(static_cast<std::size_t>(prompts_of_file));
    }
    const std::string source = files.size() > 1 ? source_of_file(files, file) : "";
    for (Prompt& prompt : dataset.prompts) {
      prompt.problem += rows;
      if (prompt.data_source.empty()) prompt.data_source = source;
      prompts.push_back(std::move(prompt));
    }
    rows += dataset.rows;
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
