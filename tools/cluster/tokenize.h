// lie_cluster tokenize: text to token ids and back, line by line.
#pragma once

#include <filesystem>
#include <iosfwd>

namespace lie {

struct TokenizeArguments {
  std::filesystem::path model = {};  // Hugging Face directory with tokenizer.json
  std::filesystem::path input = {};  // empty or "-": standard input
  bool decode = false;               // ids to text
  bool json = false;                 // lines are JSON strings
  bool add_special_tokens = false;   // what the post-processor puts around a text
  bool skip_special_tokens = false;  // decode: leave special tokens out
};

/// One line of `out` for each line of input: a text's ids as a JSON list, or with `decode` the text
/// of a JSON list of ids as a JSON string. A line is all up to its "\n"; with `json` it is a JSON
/// string, which may hold line ends. Bytes that are no UTF-8 are read as U+FFFD. Throws Error
/// naming the malformed line.
void tokenize(const TokenizeArguments& arguments, std::ostream& out);

}  // namespace lie
