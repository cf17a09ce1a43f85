#include "common/io/checksums.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <future>
#include <map>
#include <memory>
#include <sstream>
#include <system_error>
#include <thread>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/sha256.h"

namespace lie {

namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kDigestDigits = 64;
constexpr std::string_view kGap = "  ";  // between digest and name

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// Returns the SHA-256 of a file as 64 hexadecimal digits.
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

/// Returns the relative paths of all files below `directory` except SHA256SUMS, in any order.
std::vector<std::string> files_below(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string name = entry.path().lexically_relative(directory).string();
    if (entry.is_regular_file() && name != kChecksumsFile) names.push_back(name);
  }
  return names;
}

/// Returns compute(i) for the index of each name. Threads, as many as the host has, take one after
/// the other.
template <typename Compute>
std::vector<std::string> compute_all(const std::vector<std::string>& names,
                                     const Compute& compute) {
  std::vector<std::string> results(names.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < names.size(); i = next++) results[i] = compute(i);
  };
  const std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::future<void>> running;
  for (std::size_t i = 0; i < std::min(threads, names.size()); ++i) {
    running.push_back(std::async(std::launch::async, work));
  }
  for (auto& thread : running) thread.get();
  return results;
}

using Checksums = std::map<std::string, std::string>;  // digest by relative path

/// Parses the lines of SHA256SUMS. Returns an empty map if a line is malformed.
Checksums parse(const std::string& text) {
  Checksums sums;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name = kDigestDigits + kGap.size();
    if (line.size() <= name || line.substr(kDigestDigits, kGap.size()) != kGap) return {};
    sums[line.substr(name)] = line.substr(0, kDigestDigits);
  }
  return sums;
}

std::string line_of(const std::string& name, const std::string& digest) {
  return fmt::format("{}{}{}\n", digest, kGap, name);
}

/// Returns whether a name of SHA256SUMS stays below its directory.
bool is_below(const fs::path& name) {
  return name.is_relative() && *name.lexically_normal().begin() != "..";
}

/// Returns how the file differs from its checksum. Empty if it is intact.
std::string fault_of(const fs::path& directory, const std::string& name,
                     const std::string& expected) {
  try {
    if (!is_below(name)) return name + " is not below the directory of its list";
    if (!fs::exists(directory / name)) return name + " is missing";
    if (!fs::is_regular_file(directory / name)) return name + " is not a regular file";
    const std::string found = file_sha256(directory / name);
    if (found == expected) return "";
    return fmt::format("{}: expected SHA-256 {}, found {}", name, expected, found);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::string checksum_lines(const fs::path& directory, const std::vector<std::string>& names) {
  const auto digests =
      compute_all(names, [&](std::size_t i) { return file_sha256(directory / names[i]); });
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += line_of(names[i], digests[i]);
  return text;
}

void write_checksums(const fs::path& directory, const std::string& known) {
  Checksums sums = parse(known);
  std::vector<std::string> names = files_below(directory);
  std::erase_if(names, [&](const std::string& name) { return sums.contains(name); });
  sums.merge(parse(checksum_lines(directory, names)));
  std::string text;
  for (const auto& [name, digest] : sums) text += line_of(name, digest);
  write_file_atomically(directory / kChecksumsFile, text);
}

std::vector<std::string> checksum_faults(const fs::path& directory) {
  const Checksums sums = parse(read_file(directory / kChecksumsFile));
  if (sums.empty()) return {fmt::format("{} is not a list of checksums", kChecksumsFile)};
  std::vector<std::string> names;
  for (const auto& [name, digest] : sums) names.push_back(name);
  auto faults = compute_all(
      names, [&](std::size_t i) { return fault_of(directory, names[i], sums.at(names[i])); });
  std::erase(faults, "");
  return faults;
}

}  // namespace lie
