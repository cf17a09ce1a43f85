// The Parquet functions of builds without Arrow: each throws Error.
#include "common/base/error.h"
#include "common/dataset/parquet.h"

namespace lie {
namespace {

[[noreturn]] void fail_missing(const std::filesystem::path& path) {
  fail(
      "{}: this build cannot read or write Parquet: run scripts/setup.sh, which fetches Arrow, or "
      "point Arrow_DIR at your own Arrow 15 or later, and build again; or use JSONL",
      path.string());
}

}  // namespace

void for_each_parquet_row(const std::filesystem::path& path,
                          const std::function<void(const JsonRow&)>&) {
  fail_missing(path);
}

void add_parquet_columns(const std::filesystem::path& input, const std::filesystem::path&,
                         std::span<const NumberColumn>) {
  fail_missing(input);
}

}  // namespace lie
