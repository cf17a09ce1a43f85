// Measures loading, encoding and decoding on one thread, and how time grows with the length of a
// single word. tokenizer_peer.py measures the Hugging Face library on the same documents.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "model/tokenizer/tokenizer.h"
#include "tests/bench/arguments.h"

namespace {

constexpr std::size_t kDocumentBytes = 8000;

double seconds_of(const auto& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Returns documents of at least kDocumentBytes, split at line ends.
std::vector<std::string> read_documents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) lie::fail("{}: cannot be read", path);
  std::vector<std::string> documents(1);
  for (std::string line; std::getline(file, line);) {
    if (documents.back().size() >= kDocumentBytes) documents.emplace_back();
    documents.back() += line + "\n";
  }
  return documents;
}

void measure_text(const lie::Tokenizer& tokenizer, const std::vector<std::string>& documents) {
  std::size_t bytes = 0;
  for (const std::string& document : documents) bytes += document.size();
  const double megabytes = static_cast<double>(bytes) / 1e6;
  for (const char* name : {"encode, first pass", "encode, second pass"}) {
    std::size_t tokens = 0;
    const double seconds = seconds_of([&] {
      for (const std::string& document : documents) tokens += tokenizer.encode(document).size();
    });
    fmt::print("{:20} {:8.1f} MB/s  {:.2f} s, {} tokens\n", name, megabytes / seconds, seconds,
               tokens);
  }
  std::vector<std::vector<std::int32_t>> ids;
  for (const std::string& document : documents) ids.push_back(tokenizer.encode(document));
  const double seconds = seconds_of([&] {
    for (const auto& document : ids) tokenizer.decode(document);
  });
  fmt::print("{:20} {:8.1f} MB/s\n", "decode", megabytes / seconds);
}

/// Returns letters of a fixed linear congruential sequence, which does not repeat.
std::string long_word(std::size_t bytes) {
  std::string word;
  std::uint32_t state = 1;
  while (word.size() < bytes) {
    state = state * 1664525u + 1013904223u;
    word += static_cast<char>('a' + (state >> 24) % 26);
  }
  return word;
}

void measure_long_words(const lie::Tokenizer& tokenizer) {
  for (const std::size_t bytes : {1'000'000u, 10'000'000u}) {
    for (const auto& [name, text] :
         {std::pair<const char*, std::string>{"random letters", long_word(bytes)},
          {"one letter", std::string(bytes, 'a')},
          {"blanks", std::string(bytes, ' ')},
          {"Chinese", [&] {
             std::string repeated;
             while (repeated.size() < bytes) repeated += "\u4e2d\u6587\u5b57";
             return repeated;
           }()}}) {
      fmt::print("one word of {:3} MB, {:15} {:6.2f} s\n", bytes / 1'000'000, name,
                 seconds_of([&] { tokenizer.encode(text); }));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of loading, encoding and decoding on one thread");
  std::string directory, file;
  app.add_option("TOKENIZER_DIR", directory)->required();
  app.add_option("TEXT_FILE", file)->required();
  return lie::bench::run_bench(app, argc, argv, [&] {
    const std::vector<std::string> documents = read_documents(file);
    fmt::print("load {:.2f} s\n", seconds_of([&] { lie::Tokenizer::load(directory); }));
    const lie::Tokenizer tokenizer = lie::Tokenizer::load(directory);
    measure_text(tokenizer, documents);
    measure_long_words(tokenizer);
  });
}
