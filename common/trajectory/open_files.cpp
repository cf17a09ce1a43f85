#include "common/trajectory/open_files.h"

#include <sys/resource.h>

#include <algorithm>

#include "common/base/error.h"

namespace lie {
namespace {

namespace fs = std::filesystem;
using schema::ColumnInfo;

h5::Handle open_file(const fs::path& path) {
  if (!fs::is_regular_file(path)) fail("{}: no such file", path.string());
  const h5::Handle access = h5::file_access();
  h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose);
  if (!file) {
    fail(
        "{}: cannot be read as a trajectory file: {}; it is damaged or from another program: "
        "remove it or restore it",
        path.string(), h5::last_reason());
  }
  return file;
}

h5::Handle open_column(hid_t file, const ColumnInfo& column, const std::string& path) {
  const h5::Handle access = h5::column_access();
  h5::Handle dataset(H5Dopen2(file, column.path, access.id()), H5Dclose);
  if (!dataset) {
    fail("{}: column {} cannot be opened: {}; the file is damaged", path, column.path,
         h5::last_reason());
  }
  const h5::Handle type(h5::checked_id(H5Dget_type(dataset.id()), column.path), H5Tclose);
  if (H5Tequal(type.id(), h5::file_type(column.type)) <= 0) {
    fail("{}: column {} has another element type than schema version {} defines", path, column.path,
         schema::kVersion);
  }
  return dataset;
}

}  // namespace

std::size_t OpenFiles::default_limit() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 16;
  return std::clamp<std::size_t>(files.rlim_cur / 4, 1, 64);
}

OpenFiles::File& OpenFiles::open(const fs::path& path) {
  const auto found = std::ranges::find_if(
      files_, [&](const File& file) { return file.path.native() == path.native(); });
  if (found != files_.end()) {
    files_.splice(files_.begin(), files_, found);
    return files_.front();
  }
  if (files_.size() == limit_) files_.pop_back();
  files_.push_front({path, open_file(path), {}});
  return files_.front();
}

hid_t OpenFiles::column(const fs::path& path, const ColumnInfo& column) {
  File& file = open(path);
  h5::Handle& dataset = file.columns[column.path];
  if (!dataset) dataset = open_column(file.file.id(), column, path.string());
  return dataset.id();
}

}  // namespace lie
