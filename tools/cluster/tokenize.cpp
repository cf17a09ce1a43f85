#include "tools/cluster/tokenize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/io/json.h"
#include "common/io/json_lines.h"
#include "common/io/line_input.h"
#include "common/process/program.h"
#include "model/tokenizer/tokenizer.h"
#include "model/tokenizer/unicode.h"
#include "tools/cluster/commands.h"
#include "tools/run/input/token_rows.h"

namespace lie {
namespace {

std::string text_of(const std::string& line, const std::string& place) {
  const Json value = parse_json(line, place);
  if (!value.is_string()) {
    fail(
        "{}: expected a JSON string such as \"two\\nlines\", found {}; leave out --json for plain "
        "text",
        place, value.type_name());
  }
  return value.get<std::string>();
}

/// Models may have more ids than their tokenizer has tokens.
constexpr std::int64_t kIdLimit = std::int64_t{1} << 31;

std::string converted(const Tokenizer& tokenizer, const TokenizeArguments& how,
                      const std::string& line, const std::string& place) {
  if (how.decode) {
    const auto ids = token_ids_in(parse_json(line, place), place, kIdLimit);
    return json_quoted(tokenizer.decode(ids, how.skip_special_tokens));
  }
  const std::string text = how.json ? text_of(line, place) : line;
  if (!is_valid_utf8(text)) fail("{}: not valid UTF-8; convert the text to UTF-8", place);
  const auto ids = tokenizer.encode(text, {.add_special_tokens = how.add_special_tokens});
  return fmt::format("[{}]", fmt::join(ids, ", "));
}

}  // namespace

void tokenize(const TokenizeArguments& arguments, std::ostream& out) {
  LineInput in(arguments.input.empty() ? "-" : arguments.input);
  const Tokenizer tokenizer = Tokenizer::load(arguments.model);
  for (std::string line; in.next(line);) {
    out << converted(tokenizer, arguments, line, in.place()) << '\n';
  }
  flush_output(out);
}

void add_tokenize(CLI::App& program, ProcessCommand& chosen) {
  const auto arguments = std::make_shared<TokenizeArguments>();
  CLI::App* command = program.add_subcommand(
      "tokenize", "Token ids of each line of text as a JSON list, or the text of such lists");
  command->add_option("MODEL_DIR", arguments->model, "Directory with tokenizer.json")->required();
  command->add_option("FILE", arguments->input, "One text per line; default or -: standard input");
  command->add_flag("--json", arguments->json,
                    "Each line is a JSON string, so that a text may hold line ends");
  command->add_flag("--add-special-tokens", arguments->add_special_tokens,
                    "Add what the tokenizer's post-processor puts around each text, such as Llama "
                    "3's <|begin_of_text|>; the default is that of transformers' "
                    "add_special_tokens=False");
  command
      ->add_flag("--decode", arguments->decode,
                 "Decode: each line is a JSON list of ids; its text is written as a JSON string")
      ->excludes("--json")
      ->excludes("--add-special-tokens");
  command
      ->add_flag("--skip-special-tokens", arguments->skip_special_tokens,
                 "Leave special tokens out of the text")
      ->needs("--decode");
  command->callback([&chosen, arguments] { chosen = [=] { tokenize(*arguments, std::cout); }; });
}

}  // namespace lie
