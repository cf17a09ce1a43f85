#include "common/dataset/row_remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lie {

bool is_json_messages(std::string_view text) {
  const auto holds = [text](std::string_view key) {  // in JSON or as Python prints it
    return text.find(fmt::format("\"{}\"", key)) != std::string_view::npos ||
           text.find(fmt::format("'{}'", key)) != std::string_view::npos;
  };
  return text.starts_with("[{") && holds("role") && holds("content");
}

bool has_lost_backslash(std::string_view text) {
  static constexpr std::array<std::string_view, 13> kLost = {
      "\f",     "\b",    "\v",        "\text{", "\text {", "\times", "\theta",
      "\tfrac", "\tan ", "\triangle", "\right", "\rm{",    "\rho"};
  return text.find_first_of("\f\b\v\t\r") != text.npos &&
         std::ranges::any_of(kLost, [text](auto lost) { return text.find(lost) != text.npos; });
}

std::string suffix_remark(const RowOptions& options) {
  static constexpr std::array<std::string_view, 5> kLatex = {"\\text", "\\times", "\\theta",
                                                             "\\tfrac", "\\neq"};
  std::string_view rest = options.prompt_suffix;
  for (std::size_t at = rest.find('\\'); at != rest.npos; at = rest.find('\\')) {
    rest.remove_prefix(at);
    const bool is_latex =
        std::ranges::any_of(kLatex, [rest](auto command) { return rest.starts_with(command); });
    if (!is_latex && (rest.starts_with("\\n") || rest.starts_with("\\t"))) {
      return fmt::format(
          "data.prompt_suffix has {} as two characters, which every prompt gets; for a line end or "
          "tab write $'...' around the text in the shell, or double quotes in a config file",
          rest.substr(0, 2));
    }
    rest.remove_prefix(1);
  }
  return "";
}

std::vector<std::string> row_remarks(const RowCounts& counts, std::int64_t rows) {
  std::vector<std::string> remarks;
  if (counts.json_prompts > 0) {
    remarks.push_back(fmt::format(
        "{} of {} prompts are the JSON text of chat messages, and the model reads that text; write "
        "the messages as a JSON list instead of a text",
        counts.json_prompts, rows));
  }
  for (const auto& [name, count] : counts.unrendered) {
    remarks.push_back(fmt::format(
        "{} of {} rows have the field {}, which is not rendered: the model does not read it", count,
        rows, name));
  }
  for (const auto& [name, count] : counts.unrendered_choices) {
    remarks.push_back(fmt::format(
        "{} of {} prompts lack the choices in the field {}, which the model does not read: set "
        "data.choices_field if it is a list of them, or write them into the prompt",
        count, rows, name));
  }
  for (const auto& [names, count] : counts.other_golds) {
    remarks.push_back(
        fmt::format("{} of {} rows have different correct answers in the fields {}; the first is "
                    "used: set data.gold_field",
                    count, rows, names));
  }
  if (counts.missing > 0) {
    remarks.push_back(
        fmt::format("{} of {} correct answers are the text of a missing value, such as nan or None",
                    counts.missing, rows));
  }
  if (counts.lost_backslashes > 0) {
    remarks.push_back(fmt::format(
        "{} of {} rows have a control character where LaTeX has a command, such as a form feed "
        "before rac: write \\\\frac in JSON, with two backslashes",
        counts.lost_backslashes, rows));
  }
  if (counts.media > 0) {
    remarks.push_back(
        fmt::format("{} of {} prompts have a placeholder such as <image>: images, videos and "
                    "audios are not read",
                    counts.media, rows));
  }
  return remarks;
}

}  // namespace lie
