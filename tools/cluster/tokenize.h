// lie_cluster tokenize: texts to token ids and back.
#pragma once

#include <filesystem>
#include <iosfwd>

namespace lie {

struct TokenizeArguments {
  std::filesystem::path model = {};  // Hugging Face directory with tokenizer.json
  std::filesystem::path input = {};  // empty or "-": standard input
  bool decode = false;               // ids to text
  bool json = false;                 // lines are JSON strings
  bool add_special_tokens = false;   // apply the tokenizer's post-processor
  bool skip_special_tokens = false;  // with decode: omit special tokens from the text
};

/// Writes one line to `out` for each line of input: the ids of a text as a JSON list, or with
/// `decode` the text of a JSON list of ids as a JSON string. A line ends at "\n". With `json` a
/// line is a JSON string, whose text may contain line ends. Invalid UTF-8 is read as U+FFFD. Throws
/// Error naming the malformed line.
void tokenize(const TokenizeArguments& arguments, std::ostream& out);

}  // namespace lie
