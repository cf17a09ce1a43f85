// Converts Arrow failures to Errors that name the file.
#pragma once

#include <arrow/result.h>

#include <filesystem>
#include <utility>

#include "common/base/error.h"

namespace lie {

inline constexpr const char* kRemedyOfReading = "check that the file is complete and Parquet";
inline constexpr const char* kRemedyOfWriting = "check the path and the free disk space";

inline void check(const arrow::Status& status, const std::filesystem::path& path,
                  const char* remedy = kRemedyOfReading) {
  if (!status.ok()) fail("{}: {}; {}", path.string(), status.message(), remedy);
}

template <typename T>
T checked(arrow::Result<T> result, const std::filesystem::path& path,
          const char* remedy = kRemedyOfReading) {
  check(result.status(), path, remedy);
  return std::move(result).ValueUnsafe();
}

}  // namespace lie
