// A file that is written beside its place.
#pragma once

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/file.h"

namespace lie {

/// Write to at(); publish() moves the whole file to its place, durably. Without it nothing is left.
class FileAside {
 public:
  explicit FileAside(std::filesystem::path place)
      : place_(std::move(place)), at_(place_.string() + ".partial") {}
  ~FileAside() {
    std::error_code none;  // published, or never begun
    std::filesystem::remove(at_, none);
  }
  FileAside(const FileAside&) = delete;
  FileAside& operator=(const FileAside&) = delete;

  const std::filesystem::path& place() const { return place_; }
  const std::filesystem::path& at() const { return at_; }
  void publish() {
    sync_file(at_);
    rename_durably(at_, place_);
  }

 private:
  std::filesystem::path place_, at_;
};

}  // namespace lie
