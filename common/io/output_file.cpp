#include "common/io/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/io/system_failure.h"

namespace lie {
OutputFile::OutputFile(std::filesystem::path path, Begin begin)
    : path_(std::move(path)),
      file_(::open(path_.c_str(),
                   O_WRONLY | O_CREAT | O_CLOEXEC | (begin == Begin::kEmpty ? O_TRUNC : O_APPEND),
                   0644)) {
  if (!file_.is_open()) fail_on(path_, "open it for writing", "check the path and its permissions");
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.number(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_on(path_, "write it", "check the disk and its quota");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::close() {
  if (file_.close() != 0) fail_on(path_, "close it", "check the disk and its quota");
}

}  // namespace lie
