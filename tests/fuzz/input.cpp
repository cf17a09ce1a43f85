#include "tests/fuzz/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

#include "tests/temporary_directory.h"

namespace lie::fuzz {
namespace {

/// A file that stays open, because creating a file for each input costs more than reading it.
struct InputFile {
  std::filesystem::path path;
  int descriptor;
};

InputFile create(const std::filesystem::path& path) {
  return {path, ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
}

}  // namespace

std::filesystem::path file_with(const char* name, std::string_view input) {
  static const TemporaryDirectory directory;
  static std::map<std::string, InputFile, std::less<>> files;
  auto at = files.find(name);
  if (at == files.end()) at = files.emplace(name, create(directory.path() / name)).first;
  const int file = at->second.descriptor;
  const auto size = static_cast<ssize_t>(input.size());
  if (::ftruncate(file, size) != 0 || ::pwrite(file, input.data(), input.size(), 0) != size)
    std::abort();
  return at->second.path;
}

}  // namespace lie::fuzz
