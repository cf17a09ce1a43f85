// Invariant E10 for the trajectory log: damage is detected.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "common/io/file.h"
#include "common/io/sha256.h"
#include "common/trajectory/reader.h"
#include "common/trajectory/segments.h"
#include "common/trajectory/writer.h"
#include "tests/trajectory/example_steps.h"

namespace lie {
namespace {

fs::path write_segment(const char* name, const ExampleShape& shape) {
  TrajectoryWriter writer(fresh_directory(name), example_info());
  for (std::int64_t step = 1; step <= 6; ++step) writer.append(example_step(shape, step));
  writer.close();
  return writer.path();
}

/// Returns a digest of everything that can be read from a file.
std::string everything(const fs::path& path) {
  const SegmentReader file(path);
  Sha256 hash;
  hash.update(fmt::format("{}", schema::info_checksum(file.info())));
  schema::for_each_column(file.info(), [&](const schema::ColumnInfo& column) {
    hash.update(file.read_bytes(column, {0, file.rows(column.table)}));
  });
  return hash.hex_digest();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Reads the file. Returns the error, or an empty string if the digest is `expected`.
std::string fault_of(const fs::path& path, const std::string& expected) {
  try {
    return everything(path) == expected ? "" : "OTHER VALUES";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Checksums, SingleBitFlipIsDetectedOrChangesNothing) {
  const fs::path path = write_segment("flips", {});
  const std::string intact = read_file(path);
  const std::string expected = everything(path);
  std::mt19937_64 random(1);
  int detected = 0;
  constexpr int kFlips = 250;
  for (int flip = 0; flip < kFlips; ++flip) {
    std::string bytes = intact;
    const std::size_t bit = random() % (8 * bytes.size());
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    write_bytes(path, bytes);
    const std::string fault = fault_of(path, expected);
    EXPECT_NE(fault, "OTHER VALUES") << "bit " << bit;
    if (fault.empty()) continue;
    EXPECT_NE(fault.find(path.string()), std::string::npos) << fault;
    ++detected;
  }
  fmt::print("{} of {} flips detected, the others changed nothing that is read\n", detected,
             kFlips);
  EXPECT_GT(detected, 0);
}

TEST(Checksums, ErrorNamesFileAndColumn) {
  const fs::path path = write_segment("named", {.mean_tokens = 2000});
  const std::string expected = everything(path);
  std::string bytes = read_file(path);
  bytes[bytes.size() / 2] ^= 1;  // log-probs of tokens fill most of this file
  write_bytes(path, bytes);
  const std::string fault = fault_of(path, expected);
  EXPECT_NE(fault.find(path.string()), std::string::npos) << fault;
  EXPECT_NE(fault.find("/token/"), std::string::npos) << fault;
  EXPECT_NE(fault.find("the file is damaged"), std::string::npos) << fault;
}

}  // namespace
}  // namespace lie
