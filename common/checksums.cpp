#include "common/checksums.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <future>
#include <memory>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/sha256.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kDigestDigits = 64;
constexpr std::string_view kGap = "  ";  // between digest and name

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// The files below `directory` except its checksums, by relative path.
std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().lexically_relative(directory).string();
    if (entry.is_regular_file() && name != kChecksumsFile) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

/// `of` applied to each name, one thread per name.
template <typename Ask>
std::vector<std::string> ask_all(const std::vector<std::string>& names, const Ask& of) {
  std::vector<std::future<std::string>> asked;
  for (std::size_t i = 0; i < names.size(); ++i) {
    asked.push_back(std::async(std::launch::async, [&, i] { return of(i); }));
  }
  std::vector<std::string> answers;
  for (auto& answer : asked) answers.push_back(answer.get());
  return answers;
}

struct Checksums {
  std::vector<std::string> names;
  std::vector<std::string> digests;
};

/// Empty lists if a line is malformed.
Checksums parse(const std::string& text) {
  Checksums sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = kDigestDigits + kGap.size();
    if (line.size() <= name || line.substr(kDigestDigits, kGap.size()) != kGap) return {};
    sums.digests.push_back(line.substr(0, kDigestDigits));
    sums.names.push_back(line.substr(name));
  }
  return sums;
}

/// Empty if the file is as expected.
std::string fault_of(const fs::path& directory, const std::string& name,
                     const std::string& expected) {
  try {
    if (!fs::exists(directory / name)) return name + " is missing";
    const std::string found = file_sha256(directory / name);
    if (found == expected) return "";
    return fmt::format("{}: expected SHA-256 {}, found {}", name, expected, found);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::string file_sha256(const fs::path& path) {
  const File file(std::fopen(path.c_str(), "rbe"), std::fclose);
  std::vector<std::byte> piece(kPieceBytes);
  Sha256 hash;
  std::size_t length = 0;
  while (file && (length = std::fread(piece.data(), 1, piece.size(), file.get())) > 0) {
    hash.update(std::span(piece).first(length));
  }
  if (!file || std::ferror(file.get()) != 0) {
    fail("{} cannot be read: {}", path.string(), std::generic_category().message(errno));
  }
  return hash.hex_digest();
}

void write_checksums(const fs::path& directory) {
  const std::vector<std::string> names = files_below(directory);
  const auto digests =
      ask_all(names, [&](std::size_t i) { return file_sha256(directory / names[i]); });
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{}{}\n", digests[i], kGap, names[i]);
  }
  write_file_atomically(directory / kChecksumsFile, text);
}

std::vector<std::string> checksum_faults(const fs::path& directory) {
  const Checksums sums = parse(read_file(directory / kChecksumsFile));
  if (sums.names.empty()) return {fmt::format("{} is no list of checksums", kChecksumsFile)};
  auto faults = ask_all(sums.names, [&](std::size_t i) {
    return fault_of(directory, sums.names[i], sums.digests[i]);
  });
  std::erase(faults, "");
  return faults;
}

}  // namespace lie
