#include "tools/run/start/run_summary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>  // program_invocation_name
#include <cstddef>
#include <iostream>
#include <sstream>
#include <utility>

#include "common/base/run_files.h"
#include "common/process/log.h"
#include "common/process/program.h"
#include "common/process/terminal.h"
#include "common/text/scan.h"
#include "learner/checkpoint/checkpoint_directory.h"
#include "model/config/parameter_layout.h"
#include "model/tokenizer/template/templates.h"
#include "model/weights/adapter_file.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// Returns the width of lines: 80 columns, or that of a narrower terminal.
std::size_t width() {
  constexpr std::size_t kMost = 80, kLeast = 40;
  return std::clamp(terminal_columns(stderr).value_or(kMost), kLeast, kMost);
}

/// Returns the position of the space at which to break a line that is too wide. It is the space
/// after the last comma that fits, else the last space that fits, else the first space (after a
/// long path).
std::size_t break_of(const std::string& line, std::size_t columns) {
  const std::size_t comma = line.rfind(", ", columns - 1);
  if (comma != std::string::npos) return comma + 1;
  const std::size_t space = line.rfind(' ', columns);
  return space != std::string::npos ? space : line.find(' ');
}

/// Wraps one line of a value to `columns`; continuation lines are indented by `name_columns`.
std::string wrapped(std::string line, std::size_t name_columns, std::size_t columns) {
  std::string text;
  while (line.size() > columns) {
    const std::size_t space = break_of(line, columns);
    if (space == std::string::npos) break;
    text += line.substr(0, space) + fmt::format("\n{:{}}", "", name_columns);
    line.erase(0, space + 1);
  }
  return text + line;
}

/// Returns `text` as one word of a shell command, quoted if it has characters that are special
/// there.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80 ||
           std::string_view("_-./:=,+@%").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(text, is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace

std::string run_summary_text(std::string_view headline, std::span<const SummaryEntry> entries) {
  std::string text(headline);
  std::size_t wide = 0;  // of the names
  for (const SummaryEntry& entry : entries) wide = std::max(wide, entry.name.size());
  const std::size_t columns = width() - std::min<std::size_t>(wide + 4, 30);
  for (const SummaryEntry& entry : entries) {
    std::istringstream lines(entry.value);
    std::string name = entry.name;
    for (std::string line; std::getline(lines, line); name.clear()) {
      text += fmt::format("\n  {:<{}}  ", name, wide);
      text += entry.is_command ? line : wrapped(line, wide + 4, columns);
    }
  }
  return text;
}

SummaryEntry next_command_entry(std::string_view program, const std::string& argument,
                                const std::vector<std::string>& more) {
  const std::string path =
      std::filesystem::path(program_invocation_name).replace_filename(program).string();
  std::string command = shell_word(path) + " " + shell_word(argument);
  for (const std::string& word : more) command += " " + shell_word(word);
  return {.name = "next", .value = std::move(command), .is_command = true};
}

SummaryEntry memory_entry(std::span<const RoleMemory> roles) {
  std::string text;
  for (const RoleMemory& role : roles) {
    text += fmt::format("{}{} {}", text.empty() ? "" : "\n", role.role, memory_text(role.memory));
  }
  return {"memory", text};
}

SummaryEntry model_entry(const std::string& path, std::int64_t parameters) {
  const bool is_large = parameters >= 1'000'000'000;
  return {"model", fmt::format("{}: {:.3g} {} parameters", path,
                               static_cast<double>(parameters) / (is_large ? 1e9 : 1e6),
                               is_large ? "billion" : "million")};
}

SummaryEntry adapter_entry(const ModelOptions& options, const ModelConfig& model) {
  const LoraConfig& lora = model.lora.value();
  const std::int64_t trained = parameter_count(adapter_layout(model));
  const std::int64_t all = trained + parameter_count(parameter_layout(model));
  const fs::path from = find_policy(options.path, options.adapter).adapter;
  return {"adapter",
          fmt::format("{} of rank {}, alpha {}, on {}: {} trained parameters, {:.3g} % of all; {}",
                      lora.nf4 ? "QLoRA (base in NF4)" : "LoRA", lora.rank, lora.alpha,
                      fmt::join(options.lora.targets, ", "), trained,
                      100 * static_cast<double>(trained) / static_cast<double>(all),
                      from.empty() ? "new" : "from " + from.string())};
}

std::vector<SummaryEntry> text_entries(const PromptOptions& data, const std::string& model_path,
                                       const RolloutOptions& rollout, const std::string& ends) {
  const std::string begin =
      prompt_template(data.prompt_template, model_path, data.begin_of_sequence).begin;
  return {{"prompts",
           fmt::format("template {}{}, {} tokens at most", data.prompt_template,
                       begin.empty() ? "" : ", begin with " + begin, rollout.max_prompt_tokens)},
          {"responses",
           fmt::format("{} tokens at most, {}", rollout.sampling.max_response_tokens, ends)}};
}

std::string run_headline(const std::string& directory, std::optional<std::int64_t> step,
                         const std::string& length) {
  if (step) return fmt::format("{}: resumes after step {} of {}", directory, *step, length);
  return fmt::format("{}: a new run of {}", directory, length);
}

std::vector<SummaryEntry> checkpoint_entries(const std::filesystem::path& run_directory) {
  const auto checkpoint = latest_checkpoint(run_directory / kCheckpoints);
  if (!checkpoint) return {};
  return {{"checkpoint", checkpoint->string()}};
}

void print_dry_run(const std::string& config, std::string_view role, const std::string& start) {
  std::cout << config;
  flush_output(std::cout);
  const Log log(role, 0);
  log.info("{}", start);
  log.info("dry run: all checks passed; nothing was started or written");
}

}  // namespace lie
