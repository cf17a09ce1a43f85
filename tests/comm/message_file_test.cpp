// Message files that are truncated at any byte or damaged at any byte.
#include "common/comm/message_file.h"

#include <gtest/gtest.h>

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
  std::string whole;
  ThreeGroups() {
    for (const std::int64_t group : {3, 1, 4}) {
      append(path, ends.back(), group);
      ends.push_back(fs::file_size(path));
    }
    ends.front() = kHeader;
    whole = read_file(path);
  }
};

TEST(MessageFile, KeepsWholeGroupsWhereverItIsCut) {
  const ThreeGroups file;
  EXPECT_EQ(read(file.path).groups, (std::vector<std::int64_t>{3, 1, 4}));
  for (std::size_t cut = 0; cut < file.whole.size(); ++cut) {
    const fs::path part = file.scratch.write("part", file.whole.substr(0, cut));
    const Found found = read(part);
    std::size_t sound = 0;
    while (sound < 3 && file.ends[sound + 1] <= cut) ++sound;
    EXPECT_EQ(found.groups.size(), sound);
    EXPECT_EQ(found.state.whole_bytes, cut < kHeader ? 0 : file.ends[sound]);
    const bool is_torn = cut > kHeader && cut != file.ends[sound];
    EXPECT_EQ(found.state.damage.size(), is_torn ? 1u : 0u) << cut;
    append(part, found.state.whole_bytes, 8);
    EXPECT_EQ(read(part).groups.back(), 8);
    EXPECT_EQ(read(part).state.damage.size(), 0u);
  }
}

TEST(MessageFile, NoticesAnyFlippedByteAndKeepsTheGroupsBefore) {
  const ThreeGroups file;
  for (std::size_t place = kHeader; place < file.whole.size(); ++place) {
    std::string flipped = file.whole;
    flipped[place] = static_cast<char>(flipped[place] ^ 4);
    const Found found = read(file.scratch.write("flipped", flipped));
    EXPECT_EQ(found.state.damage.size(), 1u) << place;
    const std::size_t hit = place < file.ends[1] ? 0 : place < file.ends[2] ? 1 : 2;
    for (std::size_t before = 0; before < hit; ++before) {
      EXPECT_EQ(found.groups.at(before), (std::vector<std::int64_t>{3, 1, 4})[before]);
    }
    EXPECT_LT(found.groups.size(), 3u);
    // If the length field is intact, only the damaged group is lost.
    constexpr std::size_t kHead = 8 + wire::kHeaderBytes;
    if (place >= file.ends[hit] + kHead) {
      EXPECT_EQ(found.groups.size(), 2u) << place;
    }
  }
}

TEST(MessageFile, RefusesOtherFilesAndVersionsByName) {
  const ThreeGroups file;
  const auto refusal = [&](const std::string& content) {
    return read(file.scratch.write("other", content)).state.refusal;
  };
  EXPECT_NE(refusal(std::string(100, 'x')).find("is no file of responses"), std::string::npos);
  for (const std::size_t version_at : {8U, 12U}) {
    std::string other = file.whole;
    other[version_at] = 77;
    EXPECT_NE(refusal(other).find("other: has version"), std::string::npos);
    EXPECT_NE(refusal(other).find("77"), std::string::npos);
  }
  EXPECT_NE(refusal(file.whole.substr(kHeader)).find("without a version"), std::string::npos);
  EXPECT_EQ(read(file.scratch.path() / "absent").groups, std::vector<std::int64_t>{});
}

}  // namespace
}  // namespace lie
