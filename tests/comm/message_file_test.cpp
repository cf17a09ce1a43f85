// Message files that are truncated at any byte or damaged at any byte.
#include "common/comm/message_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/comm/wire.h"
#include "common/io/file.h"
#include "tests/comm/example_groups.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

constexpr std::uint64_t kHeader = 16;

struct Found {
  std::vector<std::int64_t> groups;
  MessageFileState state;
};

Found read(const fs::path& path) {
  Found found;
  found.state = read_messages(path, [&](std::span<const std::byte> message) {
    found.groups.push_back(wire::unpack<RolloutGroup>(message).ticket.group);
  });
  return found;
}

void append(const fs::path& path, std::uint64_t at, std::int64_t group) {
  MessageFile(path, at).append(wire::pack(example_rollout(group)));
}

/// A file with the groups 3, 1, 4, and the end of each record.
struct ThreeGroups {
  TemporaryDirectory scratch;
  fs::path path = scratch.path() / "groups";
  std::vector<std::uint64_t> ends = {0};
  std::string content;
  ThreeGroups() {
    for (const std::int64_t group : {3, 1, 4}) {
      append(path, ends.back(), group);
      ends.push_back(fs::file_size(path));
    }
    ends.front() = kHeader;
    content = read_file(path);
  }
};

TEST(MessageFile, KeepsCompleteGroupsWhereverItIsTruncated) {
  const ThreeGroups file;
  EXPECT_EQ(read(file.path).groups, (std::vector<std::int64_t>{3, 1, 4}));
  for (std::size_t cut = 0; cut < file.content.size(); ++cut) {
    const fs::path copy = file.scratch.write("cut", file.content.substr(0, cut));
    const Found found = read(copy);
    std::size_t intact = 0;
    while (intact < 3 && file.ends[intact + 1] <= cut) ++intact;
    EXPECT_EQ(found.groups.size(), intact);
    EXPECT_EQ(found.state.valid_bytes, cut < kHeader ? 0 : file.ends[intact]);
    const bool ends_incomplete = cut > kHeader && cut != file.ends[intact];
    EXPECT_EQ(found.state.damage.size(), ends_incomplete ? 1u : 0u) << cut;
    append(copy, found.state.valid_bytes, 8);
    EXPECT_EQ(read(copy).groups.back(), 8);
    EXPECT_EQ(read(copy).state.damage.size(), 0u);
  }
}

TEST(MessageFile, DetectsAnyFlippedByteAndKeepsEarlierGroups) {
  const ThreeGroups file;
  for (std::size_t at = kHeader; at < file.content.size(); ++at) {
    std::string flipped = file.content;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    const Found found = read(file.scratch.write("flipped", flipped));
    EXPECT_EQ(found.state.damage.size(), 1u) << at;
    const std::size_t hit = at < file.ends[1] ? 0 : at < file.ends[2] ? 1 : 2;
    for (std::size_t before = 0; before < hit; ++before) {
      EXPECT_EQ(found.groups.at(before), (std::vector<std::int64_t>{3, 1, 4})[before]);
    }
    EXPECT_LT(found.groups.size(), 3u);
    // If the length field is intact, only the damaged group is lost.
    constexpr std::size_t kHead = 8 + wire::kHeaderBytes;
    if (at >= file.ends[hit] + kHead) {
      EXPECT_EQ(found.groups.size(), 2u) << at;
    }
  }
}

TEST(MessageFile, RefusesAPipeWithoutWaitingForItsWriter) {
  const TemporaryDirectory scratch;
  const fs::path path = scratch.path() / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read(path).state.refusal, path.string() + ": is not a regular file; move it away");
}

TEST(MessageFile, RefusesForeignFilesAndOtherVersions) {
  const ThreeGroups file;
  const auto refusal = [&](const std::string& content) {
    return read(file.scratch.write("other", content)).state.refusal;
  };
  EXPECT_NE(refusal(std::string(100, 'x')).find("is not a file of responses"), std::string::npos);
  for (const std::size_t version_at : {8U, 12U}) {
    std::string other = file.content;
    other[version_at] = 77;
    EXPECT_NE(refusal(other).find("other: has version"), std::string::npos);
    EXPECT_NE(refusal(other).find("77"), std::string::npos);
  }
  EXPECT_NE(refusal(file.content.substr(kHeader)).find("has no version"), std::string::npos);
  EXPECT_EQ(read(file.scratch.path() / "absent").groups, std::vector<std::int64_t>{});
}

}  // namespace
}  // namespace lie
