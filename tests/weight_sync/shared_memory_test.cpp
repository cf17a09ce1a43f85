#include "model/weight_sync/host_copy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace lie {
namespace {

constexpr std::size_t kPage = 4096, kBytes = 3 * kPage;

/// Runs `work` in a child process and returns its status as waitpid() reports it.
template <typename Work>
int ended(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    std::_Exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(SharedMemory, OneProcessReadsWhatAnotherWrites) {
  auto memory = SharedMemory::create(kBytes);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->bytes()[kPage], std::byte(0));
  memory->bytes()[kPage] = std::byte(7);
  const int status = ended([handle = memory->handle()] {
    const auto same = SharedMemory::open(handle, kPage);
    if (!same || same->bytes().size() != kBytes || same->bytes()[kPage] != std::byte(7)) {
      std::_Exit(1);
    }
    same->bytes()[0] = std::byte(9);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(memory->bytes()[0], std::byte(9));
}

TEST(SharedMemory, WritingPastTheWritableBytesFaults) {
  const auto memory = SharedMemory::create(kBytes);
  const int status = ended([handle = memory->handle()] {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler ends the process otherwise
    SharedMemory::open(handle, kPage)->bytes()[kPage] = std::byte(1);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(memory->bytes()[kPage], std::byte(0));
}

TEST(SharedMemory, AHandleOfClosedOrOtherMemoryIsRejected) {
  std::string gone;
  {
    const auto memory = SharedMemory::create(kBytes);
    gone = memory->handle();
    EXPECT_TRUE(SharedMemory::open(gone, kPage));
  }
  EXPECT_FALSE(SharedMemory::open(gone, kPage)) << "closed";
  const auto other = SharedMemory::create(kBytes);  // has the descriptor number of the first
  EXPECT_FALSE(SharedMemory::open(gone, kPage)) << "other memory with the same descriptor number";
  EXPECT_FALSE(SharedMemory::open("", kPage));
  EXPECT_FALSE(SharedMemory::open("1 x", kPage));
}

TEST(SharedMemory, CreateReturnsNothingIfTheSystemRefuses) {
  EXPECT_FALSE(SharedMemory::create(std::size_t{1} << 62));
}

}  // namespace
}  // namespace lie
