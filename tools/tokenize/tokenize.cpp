#include "tools/tokenize/tokenize.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/json.h"
#include "common/json_lines.h"
#include "model/tokenizer/tokenizer.h"

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

std::vector<std::int32_t> ids_of(const std::string& line, const std::string& place,
                                 std::int64_t vocabulary) {
  const Json list = parse_json(line, place);
  if (!list.is_array()) {
    fail("{}: expected a JSON list of token ids such as [1, 2], found {}", place, list.type_name());
  }
  std::vector<std::int32_t> ids;
  for (const Json& id : list) {
    if (!id.is_number_unsigned() ||
        id.get<std::uint64_t>() > std::numeric_limits<std::int32_t>::max()) {
      fail("{}: {} is not a token id (0 to {})", place, id.dump(), vocabulary - 1);
    }
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

std::string converted(const Tokenizer& tokenizer, const TokenizeArguments& how,
                      const std::string& line, const std::string& place) {
  if (how.decode) {
    const auto ids = ids_of(line, place, tokenizer.vocabulary_size());
    return json_quoted(tokenizer.decode(ids, how.skip_special_tokens));
  }
  const std::string text = how.json ? text_of(line, place) : line;
  const auto ids = tokenizer.encode(text, {.add_special_tokens = how.add_special_tokens});
  return fmt::format("[{}]", fmt::join(ids, ", "));
}

}  // namespace

void tokenize(const TokenizeArguments& arguments, std::ostream& out) {
  const bool from_stdin = arguments.input.empty() || arguments.input == "-";
  std::ifstream file;
  if (!from_stdin) {
    file.open(arguments.input, std::ios::binary);
    if (!file || file.peek() == EOF) file.clear(file.rdstate() & ~std::ios::eofbit);
    if (!file) fail("{}: cannot be read; does it exist?", arguments.input.string());
  }
  const Tokenizer tokenizer = Tokenizer::load(arguments.model);
  const std::string name = from_stdin ? "standard input" : arguments.input.string();
  std::istream& in = from_stdin ? std::cin : file;
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    out << converted(tokenizer, arguments, line, fmt::format("{}:{}", name, number)) << '\n';
  }
  if (!out.flush()) fail("standard output cannot be written; is the disk full?");
}

}  // namespace lie
