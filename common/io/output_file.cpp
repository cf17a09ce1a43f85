#include "common/io/output_file.h"

#include <fcntl.h>

#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/io/descriptor.h"
#include "common/io/file.h"
#include "common/io/system_call.h"

namespace lie {

OutputFile::OutputFile(fs::path path, Begin begin)
    : path_(std::move(path)),
      file_(::open(path_.c_str(),
                   O_WRONLY | O_CREAT | O_CLOEXEC | (begin == Begin::kEmpty ? O_TRUNC : O_APPEND),
                   0644)) {
  if (!file_.is_open()) fail_on(path_, "open it for writing", "check the path and its permissions");
}

void OutputFile::write(std::string_view bytes) {
  if (!write_all(file_.number(), bytes)) fail_on(path_, "write it", "check the disk and its quota");
}

void OutputFile::close() {
  if (file_.close() != 0) fail_on(path_, "close it", "check the disk and its quota");
}

void check_place(const fs::path& place) {
  std::error_code none;  // a path that cannot be examined counts as missing
  if (fs::is_directory(place, none)) fail("{}: is a directory; name a file", place.string());
  const fs::path parent = place.parent_path();
  if (parent.empty() || fs::is_directory(parent, none)) return;
  if (fs::exists(parent, none)) {
    fail("{}: {} is no directory; name another place", place.string(), parent.string());
  }
  fail("{}: there is no directory {}; make it first", place.string(), parent.string());
}

FileAside::FileAside(fs::path place) : place_(std::move(place)), at_(place_) {
  check_place(place_);
  std::error_code none;  // the file may not exist yet
  const fs::file_status there = fs::status(place_, none);
  if (fs::exists(there) && !fs::is_regular_file(there)) return;
  if (fs::exists(there) && fs::is_symlink(place_)) place_ = fs::canonical(place_);
  at_ = place_.string() + ".partial";
  ::unlink(at_.c_str());  // so that a link that somebody else put there is not followed
  const Descriptor created(::open(at_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!created.is_open()) fail_on(at_, "create it", "check the path and its permissions");
}

FileAside::~FileAside() {
  std::error_code none;  // the temporary file is missing if it was published or never created
  if (at_ != place_) fs::remove(at_, none);
}

void FileAside::publish() {
  if (at_ == place_) return;
  sync_file(at_);
  rename_durably(at_, place_);
}

}  // namespace lie
