// The two append-only files that let a killed program go on.
#include <gtest/gtest.h>

#include "common/file.h"
#include "tests/temporary_directory.h"
#include "tools/eval/response_log.h"
#include "tools/reference_lengths/length_log.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

RolloutGroup group_of(std::int64_t number, std::size_t tokens) {
  RolloutGroup group;
  group.ticket.group = number;
  group.ticket.samples = 1;
  group.ticket.prompt.text = "x";
  group.prompt_ids = {1};
  group.prompt_tokens_dropped = 4;
  Response response;
  response.ids.assign(tokens, 7);
  response.behavior_log_probs.assign(tokens, -1.0F);
  group.responses.push_back(response);
  return group;
}

std::vector<std::int64_t> numbers(const fs::path& path, std::uint64_t* bytes = nullptr) {
  std::vector<std::int64_t> found;
  const std::uint64_t whole =
      read_responses(path, [&](const RolloutGroup& g) { found.push_back(g.ticket.group); });
  if (bytes != nullptr) *bytes = whole;
  return found;
}

constexpr std::uint64_t kHeader = 16;

TEST(ResponseLog, KeepsWholeGroupsWhereverItIsCut) {
  const TemporaryDirectory scratch;
  const fs::path path = scratch.path() / "responses.log";
  ResponseLog(path, 0).append(group_of(3, 5));
  const std::uint64_t first = fs::file_size(path);
  ResponseLog(path, first).append(group_of(1, 9));
  const std::string whole = read_file(path);
  EXPECT_EQ(numbers(path), (std::vector<std::int64_t>{3, 1}));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const fs::path part = scratch.write("part.log", whole.substr(0, cut));
    std::uint64_t bytes = 0;
    const auto found = numbers(part, &bytes);
    EXPECT_EQ(bytes, cut < kHeader ? 0 : cut < first ? kHeader : first);
    EXPECT_EQ(found.size(), cut < first ? 0u : 1u);
    ResponseLog(part, bytes).append(group_of(8, 1));
    EXPECT_EQ(numbers(part).back(), 8);
  }
}

TEST(ResponseLog, RefusesOtherFiles) {
  const TemporaryDirectory scratch;
  const fs::path path = scratch.write("responses.log", std::string(100, 'x'));
  EXPECT_NE(error_of([&] { numbers(path); }).find("is no file of responses"), std::string::npos);
  EXPECT_EQ(numbers(scratch.path() / "absent"), std::vector<std::int64_t>{});
}

TEST(ResponseLog, RefusesAnotherVersionByItsNumber) {
  const TemporaryDirectory scratch;
  const fs::path path = scratch.path() / "responses.log";
  ResponseLog(path, 0).append(group_of(3, 5));
  for (const std::size_t version_at : {8U, 12U}) {
    std::string other = read_file(path);
    other[version_at] = 77;
    const fs::path changed = scratch.write("other.log", other);
    const std::string error = error_of([&] { numbers(changed); });
    EXPECT_NE(error.find("other.log: has version"), std::string::npos) << error;
    EXPECT_NE(error.find("77"), std::string::npos) << error;
  }
  const fs::path bare = scratch.write("bare.log", read_file(path).substr(kHeader));
  EXPECT_NE(error_of([&] { numbers(bare); }).find("without a version"), std::string::npos);
}

TEST(LengthLog, KeepsWholeLinesWhereverItIsCut) {
  const TemporaryDirectory scratch;
  const fs::path path = scratch.path() / "lengths.progress";
  {
    LengthLog log(path, "abc");
    log.append(group_of(3, 5));
    log.append(group_of(1, 9));
  }
  const std::string whole = read_file(path);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    LengthLog log(scratch.write("part", whole.substr(0, cut)), "abc");
    const std::string kept = whole.substr(0, cut);
    const auto lines = std::count(kept.begin(), kept.end(), '\n');
    EXPECT_EQ(std::ssize(log.measured()), std::max<std::int64_t>(0, lines - 1));
    log.append(group_of(8, 2));
    EXPECT_EQ(LengthLog(scratch.path() / "part", "abc").measured().at(8).mean(), 2);
    EXPECT_EQ(LengthLog(scratch.path() / "part", "abc").measured().at(8).prompt_tokens_dropped, 4);
  }
  EXPECT_NE(error_of([&] { LengthLog(path, "abd"); }).find("of another model, data or sampling"),
            std::string::npos);
  EXPECT_NE(error_of([&] { LengthLog(scratch.write("n", "{}\n"), "a"); }).find("damaged"),
            std::string::npos);
}

}  // namespace
}  // namespace lie
