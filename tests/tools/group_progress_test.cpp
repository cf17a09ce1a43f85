#include "tools/run/roles/group_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

namespace lie {
namespace {

using testing::AllOf, testing::HasSubstr, testing::Not;

/// A progress line that is written into a file.
struct GroupProgressLine : testing::Test {
  std::string text() const {
    std::string all;
    std::rewind(file.get());
    for (std::array<char, 256> part; std::fgets(part.data(), part.size(), file.get()) != nullptr;) {
      all += part.data();
    }
    return all;
  }
  static RolloutGroup group(std::size_t responses, std::size_t tokens) {
    RolloutGroup group;
    group.responses.resize(responses);
    for (Response& response : group.responses) response.ids.resize(tokens);
    return group;
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};
};

TEST_F(GroupProgressLine, TimeLeftIsABoundWhileTheFirstResponsesAreInFlight) {
  GroupProgress progress(file.get(), /*prompts=*/2, /*before=*/0,
                         {.responses = 8, .limit = 10, .in_flight = 8});
  progress.sampled(7);
  EXPECT_EQ(text(), "") << "less than a tenth of 80 tokens";
  progress.sampled(16);
  EXPECT_THAT(text(), AllOf(HasSubstr("0/2 prompts | "), HasSubstr("at most")));
  progress.add(group(4, 2));  // 8 of the 16 tokens; others may need all of their 40
  EXPECT_THAT(text(), AllOf(HasSubstr("1/2 prompts | length 2.0 | "), HasSubstr("at most")));
  progress.add(group(4, 10));
  EXPECT_THAT(text(), HasSubstr("2/2 prompts | length 6.0 | "));
  EXPECT_TRUE(text().ends_with(" | 0:00 left\n")) << text();
}

TEST_F(GroupProgressLine, TimeLeftIsEstimatedByPromptsAfterThat) {
  GroupProgress progress(file.get(), /*prompts=*/11, /*before=*/1,
                         {.responses = 10, .limit = 10, .in_flight = 1});
  progress.sampled(2);
  progress.add(group(1, 2));
  EXPECT_THAT(text(), AllOf(HasSubstr("2/11 prompts"), Not(HasSubstr("at most")))) << text();
}

}  // namespace
}  // namespace lie
