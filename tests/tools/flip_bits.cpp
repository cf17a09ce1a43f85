// flip_bits RUN_DIR COUNT [SEED]: flips single bits in the files of a run, each file in turn, and
// restores them. check_run() must detect each flip, except one in a trajectory file that leaves
// every value unchanged. Prints a line for each other flip, and then exits with status 1.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/sha256.h"
#include "common/trajectory/reader.h"
#include "tools/analyze/check.h"

namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<fs::path> files_of(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const bool is_read =
        entry.path().filename() != "report.html" && entry.path().filename() != "writer.lock";
    if (is_read && entry.is_regular_file() && entry.file_size() > 0) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// Returns a digest of all that can be read from a trajectory file.
std::string values_of(const fs::path& path) try {
  const lie::SegmentReader file(path);
  lie::Sha256 hash;
  hash.update(fmt::format("{}", lie::schema::info_checksum(file.info())));
  lie::schema::for_each_column(file.info(), [&](const lie::schema::ColumnInfo& column) {
    hash.update(file.read_bytes(column, {0, file.rows(column.table)}));
  });
  return hash.hex_digest();
} catch (const lie::Error& error) {
  return error.what();
}

struct Counts {
  int noticed = 0, without_effect = 0, silent = 0;
};

void flip(const fs::path& run, const fs::path& path, std::size_t bit, Counts& counts) {
  const bool is_log = path.extension() == ".h5";
  const std::string whole = lie::read_file(path);
  const std::string values = is_log ? values_of(path) : "";
  std::string bytes = whole;
  bit %= 8 * bytes.size();
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  write_bytes(path, bytes);
  if (!lie::analyze::check_run(run).faults.empty()) {
    ++counts.noticed;
  } else if (is_log && values_of(path) == values) {
    ++counts.without_effect;
  } else {
    ++counts.silent;
    fmt::print("{}: bit {} was flipped, and the flip was not detected\n", path.string(), bit);
  }
  write_bytes(path, whole);
}

int flip_all(const fs::path& run, int count, std::uint64_t seed) {
  const auto before = lie::analyze::check_run(run);
  if (!before.faults.empty()) lie::fail("{}", lie::analyze::text_of(before));
  const std::vector<fs::path> files = files_of(run);
  std::mt19937_64 random(seed);
  Counts counts;
  for (int i = 0; i < count; ++i) {
    flip(run, files[static_cast<std::size_t>(i) % files.size()], random(), counts);
  }
  fmt::print("{} bits flipped in {} files: {} noticed, {} change nothing that is read, {} silent\n",
             count, files.size(), counts.noticed, counts.without_effect, counts.silent);
  return counts.silent == 0 && counts.noticed > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  try {
    return flip_all(argv[1], std::stoi(argv[2]), argc > 3 ? std::stoull(argv[3]) : 1);
  } catch (const std::exception& error) {
    fmt::print(stderr, "flip_bits: {}\n", error.what());
    return 1;
  }
}
