// tokenizer_parity DIR IN OUT: encodes the texts of IN and decodes the ids, for
// golden/check_parity.py. IN holds for each text a 4-byte length and the bytes. OUT holds for each
// text the ids without and with special tokens, then the decoded text with and without special
// tokens. Each of these is a 4-byte count and the items.
#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "common/base/error.h"
#include "model/tokenizer/tokenizer.h"

namespace {

template <typename Items>
void append(std::string& out, const Items& items) {
  const auto count = static_cast<std::uint32_t>(items.size());
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof items[0]);
}

void run(const std::string& directory, const std::string& in_path, const std::string& out_path) {
  const lie::Tokenizer tokenizer = lie::Tokenizer::load(directory);
  std::ifstream in(in_path, std::ios::binary);
  const std::string texts((std::istreambuf_iterator<char>(in)), {});
  std::string out;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < texts.size(); i += length) {
    std::memcpy(&length, texts.data() + i, sizeof length);
    i += sizeof length;
    const std::string_view text = std::string_view(texts).substr(i, length);
    const auto ids = tokenizer.encode(text);
    append(out, ids);
    append(out, tokenizer.encode(text, {.add_special_tokens = true}));
    append(out, tokenizer.decode(ids, false));
    append(out, tokenizer.decode(ids, true));
  }
  std::ofstream(out_path, std::ios::binary) << out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: tokenizer_parity DIR IN OUT\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (const lie::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
