#include "model/tokenizer/template/jinja.h"

#include <jinja/lexer.h>
#include <jinja/parser.h>
#include <jinja/runtime.h>
#include <jinja/value.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/error.h"
#include "model/tokenizer/unicode.h"

namespace lie {
namespace {

constexpr std::size_t kMaxTemplateBytes = 1 << 20;  // the largest published ones have 30 kB
constexpr std::time_t kFixedTime = 1'721'995'200;   // 2024-07-26 12:00 UTC

/// Implements strftime_now: formats kFixedTime in UTC.
jinja::value fixed_date(const jinja::func_args& args) {
  args.ensure_vals<jinja::value_string>();
  const std::string format = args.get_pos(0)->as_string().str();
  std::tm now{};
  gmtime_r(&kFixedTime, &now);
  std::array<char, 256> text;
  const std::size_t length = std::strftime(text.data(), text.size(), format.c_str(), &now);
  return jinja::mk_val<jinja::value_string>(std::string(text.data(), length));
}

std::int64_t line_of(std::string_view source, std::size_t position) {
  return 1 + std::ranges::count(source.substr(0, position), '\n');
}

/// Returns the engine's error message without its excerpt of the template.
std::string reason_of(std::string text) {
  const std::size_t error = text.rfind("\nError: ");
  if (error != std::string::npos) {
    text.erase(0, error + 8);
  } else {
    text.resize(std::min(text.find('\n'), text.size()));
  }
  return text;
}

std::string parse_problem(const jinja::lexer_result& lexed, std::size_t tokens) {
  const auto end = lexed.tokens.begin() + static_cast<std::ptrdiff_t>(tokens);
  try {
    jinja::parse_from_tokens({{lexed.tokens.begin(), end}, lexed.source});
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

/// Returns the position of a parse error, which the engine does not always report. It is the end of
/// the shortest sequence of tokens that causes the same error.
std::size_t place_of(const std::string& problem, const jinja::lexer_result& lexed) {
  std::size_t low = 0;
  std::size_t high = lexed.tokens.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (parse_problem(lexed, middle) == problem) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == 0 ? 0 : lexed.tokens[low - 1].pos;
}

/// Removes the line break before a template from its source and tokens.
void remove_first_line_break(jinja::lexer_result& lexed) {
  if (!lexed.source.empty()) lexed.source.erase(0, 1);
  for (jinja::token& token : lexed.tokens) token.pos -= std::min<std::size_t>(token.pos, 1);
  if (lexed.tokens.empty()) return;
  jinja::token& first = lexed.tokens.front();
  if (first.t != jinja::token::text || !first.value.starts_with('\n')) return;
  first.value.erase(0, 1);
  if (first.value.empty()) lexed.tokens.erase(lexed.tokens.begin());
}

/// Splits a template into tokens. The engine drops the first character of a template if only spaces
/// are between it and a block. A line break before the template prevents this.
jinja::lexer_result lexed(const std::string& source, const std::string& place) {
  if (source.size() > kMaxTemplateBytes) {
    fail("{}: the chat template has {} bytes, more than {}", place, source.size(),
         kMaxTemplateBytes);
  }
  try {
    jinja::lexer_result result = jinja::lexer().tokenize('\n' + source);
    remove_first_line_break(result);
    return result;
  } catch (const std::exception& error) {
    fail("{}: the chat template cannot be read: {}", place, reason_of(error.what()));
  }
}

jinja::program parsed(const jinja::lexer_result& tokens, const std::string& place) {
  try {
    return jinja::parse_from_tokens(tokens);
  } catch (const std::exception& error) {
    fail("{}, line {}: the chat template cannot be read: {}", place,
         line_of(tokens.source, place_of(error.what(), tokens)), reason_of(error.what()));
  }
}

/// Returns "line 7" or similar from the engine's report, or an empty string.
std::string line_in(std::string_view report) {
  const std::size_t begin = report.find(" at line ");
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = report.substr(begin + 4);
  return std::string(rest.substr(0, rest.find(',')));
}

/// Returns the first of the fields' usual names that the template mentions.
std::string reasoning_key(std::string_view source) {
  for (const char* name : {"reasoning_content", "thinking", "reasoning", "thought"}) {
    const bool is_read = source.find(std::string(".") + name) != std::string_view::npos ||
                         source.find(fmt::format("'{}'", name)) != std::string_view::npos ||
                         source.find(fmt::format("\"{}\"", name)) != std::string_view::npos;
    if (is_read) return name;
  }
  return "reasoning_content";
}

nlohmann::ordered_json globals(std::span<const ChatMessage> messages, bool add_generation_prompt,
                               const JinjaVariables& variables, const std::string& reasoning) {
  nlohmann::ordered_json all = {{"messages", nlohmann::ordered_json::array()},
                                {"tools", nullptr},
                                {"documents", nullptr},
                                {"add_generation_prompt", add_generation_prompt}};
  for (const ChatMessage& m : messages) {
    all["messages"].push_back({{"role", m.role}, {"content", m.content}});
    if (!m.reasoning.empty()) all["messages"].back()[reasoning] = m.reasoning;
  }
  for (const auto& [name, text] : variables) all.emplace(name, text);  // replaces none of the above
  return all;
}

/// A template as the child process holds it.
class Program {
 public:
  Program(std::string source, std::string place)
      : source_(std::move(source)), place_(std::move(place)) {}

  /// Answers a request: the variables as JSON. Without variables, only parses the template.
  std::string answer(std::string_view variables) {
    if (!tree_) parse();
    return variables.empty() ? "" : render(nlohmann::ordered_json::parse(variables));
  }

 private:
  void parse() {
    jinja::lexer_result tokens = lexed(source_, place_);
    tree_ = parsed(tokens, place_);
    source_ = std::move(tokens.source);
  }

  /// The engine cuts texts by bytes, so that a slice may end within a character.
  std::string render(const nlohmann::ordered_json& variables) const {
    std::string text = executed(variables);
    if (is_valid_utf8(text)) return text;
    fail(
        "{}: the chat template renders text that is not UTF-8: it has other bytes itself, or takes "
        "part of a text, which the engine cuts by bytes; set data.prompt_template to a named "
        "template",
        place_);
  }

  std::string executed(const nlohmann::ordered_json& variables) const {
    jinja::context context(source_);
    jinja::global_from_json(context, variables, false);
    context.set_val("strftime_now", jinja::mk_val<jinja::value_func>("strftime_now", fixed_date));
    try {
      const jinja::value_array parts = jinja::runtime(context).execute(*tree_);
      return jinja::render_string_parts(jinja::runtime::gather_string_parts(parts));
    } catch (const std::exception& error) {
      // The engine adds the position to every exception, which changes the exception's type.
      if (std::string_view(error.what()).ends_with("std::bad_alloc")) throw std::bad_alloc();
      const std::string line = line_in(error.what());
      fail("{}{}{}: the chat template rejects the conversation: {}", place_,
           line.empty() ? "" : ", ", line, reason_of(error.what()));
    }
  }

  std::string source_, place_;
  std::optional<jinja::program> tree_;
};

}  // namespace

JinjaTemplate::JinjaTemplate(const std::string& source, std::string place)
    : place_(std::move(place)),
      reasoning_key_(reasoning_key(source)),
      process_(std::make_unique<LimitedProcess>(
          [program = std::make_shared<Program>(source, place_)](std::string_view request) {
            return program->answer(request);
          })) {
  ask("");
}

std::string JinjaTemplate::render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                  const JinjaVariables& variables) const {
  return ask(globals(messages, add_generation_prompt, variables, reasoning_key_).dump());
}

/// Errors of the template itself already name its place.
std::string JinjaTemplate::ask(std::string_view request) const {
  try {
    return process_->ask(request);
  } catch (const Error& error) {
    if (std::string_view(error.what()).starts_with(place_)) throw;
    fail("{}: the chat template cannot be rendered: {}", place_, error.what());
  }
}

}  // namespace lie
