#include "common/io/file_aside.h"

#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"

namespace lie {

void check_place(const fs::path& place) {
  std::error_code none;  // a path that cannot be examined counts as missing
  if (fs::is_directory(place, none)) fail("{}: is a directory; name a file", place.string());
  const fs::path parent = place.parent_path();
  if (parent.empty() || fs::exists(parent, none)) return;
  fail("{}: there is no directory {}; make it first", place.string(), parent.string());
}

FileAside::FileAside(fs::path place) : place_(std::move(place)), at_(place_) {
  check_place(place_);
  std::error_code none;  // the file may not exist yet
  const fs::file_status there = fs::status(place_, none);
  if (fs::exists(there) && !fs::is_regular_file(there)) return;
  if (fs::exists(there) && fs::is_symlink(place_)) place_ = fs::canonical(place_);
  at_ = place_.string() + ".partial";
  create_anew(at_);
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
