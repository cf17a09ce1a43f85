#include "common/base/stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/temporary_directory.h"

namespace lie {
namespace {

TEST(BoundedQueue, PassesEveryValueInOrderAcrossThreads) {
  BoundedQueue<int> queue(3);
  std::jthread sender([&] {
    for (int i = 0; i < 20000; ++i) queue.send(i);
    queue.close();
  });
  int next = 0;
  while (const auto value = queue.receive()) ASSERT_EQ(*value, next++);
  EXPECT_EQ(next, 20000);
}

TEST(BoundedQueue, PassesMoveOnlyValues) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  queue.send(std::make_unique<int>(5));
  EXPECT_EQ(**queue.receive(), 5);
}

TEST(BoundedQueue, QueuedValuesAreReceivedAfterClose) {
  BoundedQueue<int> queue(2);
  queue.send(1);
  queue.close();
  EXPECT_EQ(queue.receive(), 1);
  EXPECT_EQ(queue.receive(), std::nullopt);
  EXPECT_EQ(queue.receive(), std::nullopt);
  EXPECT_THROW(queue.send(2), Error);
}

TEST(BoundedQueue, TryReceiveNeverBlocks) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.try_receive(), std::nullopt);
  queue.send(4);
  EXPECT_EQ(queue.try_receive(), 4);
}

TEST(BoundedQueue, PoisonWakesAWaitingReceiver) {
  BoundedQueue<int> queue(1);
  std::string message;
  std::jthread receiver([&] { message = error_of([&] { queue.receive(); }); });
  queue.poison(std::make_exception_ptr(Error("the actor failed")));
  receiver.join();
  EXPECT_EQ(message, "the actor failed");
}

TEST(BoundedQueue, PoisonWakesAWaitingSender) {
  BoundedQueue<int> queue(1);
  queue.send(1);
  std::string message;
  std::jthread sender([&] { message = error_of([&] { queue.send(2); }); });
  queue.poison(std::make_exception_ptr(Error("the learner failed")));
  sender.join();
  EXPECT_EQ(message, "the learner failed");
}

TEST(BoundedQueue, LaterPoisonIsIgnored) {
  BoundedQueue<int> queue(1);
  queue.poison(std::make_exception_ptr(Error("cause")));
  queue.poison(std::make_exception_ptr(Error("consequence")));
  EXPECT_EQ(error_of([&] { queue.try_receive(); }), "cause");
}

TEST(BoundedQueue, CapacityZeroIsRefused) { EXPECT_THROW(BoundedQueue<int>(0), Error); }

}  // namespace
}  // namespace lie
