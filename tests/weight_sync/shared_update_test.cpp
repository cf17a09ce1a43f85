// Learners whose actors compute with their weights: an update ends when all of them have packed it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "common/comm/collective/thread_collective.h"
#include "learner/checkpoint/checkpoint_parts.h"
#include "learner/trainer/sharded_trainer.h"
#include "tests/aten/reference_operators.h"
#include "tests/tiny_model.h"

namespace lie {
namespace {

/// Counts the matrices that a policy packs. Packs slowly on learner 2.
class PackingOperators : public aten::ReferenceOperators {
 public:
  PackingOperators(std::atomic<int>& packed, bool is_slow)
      : ReferenceOperators(at::Device(at::kCPU), DType::kFloat32),
        packed_(packed),
        is_slow_(is_slow) {}
  void pack(PackedWeight& weight, std::int64_t first_out, Tensor part) override {
    for (int i = 0; is_slow_ && i < 1000; ++i) std::this_thread::yield();
    ReferenceOperators::pack(weight, first_out, part);
    ++own;
    packed_ += counts ? 1 : 0;
  }
  int own = 0;
  bool counts = false;

 private:
  std::atomic<int>& packed_;
  bool is_slow_;
};

TEST(SharedUpdate, ReturnsWhenEveryLearnerHasPackedTheWeights) {
  constexpr int kLearners = 3;
  const ModelConfig config = test::tiny_config();
  std::atomic<int> packed = 0;
  ThreadGroup group(kLearners);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kLearners; ++rank) {
    threads.emplace_back([&, rank] {
      const auto learners = group.member(rank);
      PackingOperators operators(packed, rank == 2);
      ShardedTrainer trainer({}, {},
                             initial_weights(config, 1, operators,
                                             held_range(parameter_layout(config), rank, kLearners)),
                             *learners);
      const int of_one = operators.own;
      trainer.share_with_actors();
      operators.counts = true;
      trainer.gather_weights();
      EXPECT_EQ(packed, kLearners * of_one) << rank;
    });
  }
}

}  // namespace
}  // namespace lie
