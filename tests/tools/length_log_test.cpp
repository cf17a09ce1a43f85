// The append-only file from which a killed measurement resumes.
#include <gtest/gtest.h>

#include "common/io/file.h"
#include "tests/temporary_directory.h"
#include "tools/cluster/length_log.h"

namespace lie {
namespace {

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

TEST(LengthLog, KeepsCompleteLinesWhereverItIsCut) {
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
