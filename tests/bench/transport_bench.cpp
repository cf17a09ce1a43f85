// Measures how waiting ranks slow down working ranks, and the cost of messages. Run it under mpirun
// -n 4.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

#include "common/comm/channel.h"
#include "common/comm/collective/mpi_collective.h"
#include "common/comm/host_cpus.h"
#include "model/weight_sync/weight_sync.h"
#include "tests/bench/arguments.h"
#include "tests/weight_sync/receive_all.h"

namespace lie {
namespace {

constexpr Tag tag(int number) {
  return static_cast<Tag>(static_cast<int>(Tag::kFirstFree) + number);
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Returns the seconds of a fixed amount of arithmetic.
double work_seconds() {
  const double begin = now_seconds();
  std::uint64_t state = 1;
  for (int i = 0; i < 400'000'000; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
  volatile std::uint64_t sink = state;
  (void)sink;
  return now_seconds() - begin;
}

void meet(Job& job) {
  double one = 1;
  world_collective(job)->all_reduce_sum(std::span(&one, 1));
}

/// Measures work on ranks 0 and 1 while the others wait in a channel or a collective of ours.
double seconds_beside_waiting_ranks(Job& job, int number, bool in_collective) {
  meet(job);
  double seconds = 0;
  if (job.rank() < 2) {
    seconds = work_seconds();
  } else if (!in_collective) {
    MpiSource<RolloutGroup>(job, tag(number), 1).receive();
  }
  if (job.rank() == 0 && !in_collective) {
    std::vector<int> waiting(static_cast<std::size_t>(job.size() - 2));
    std::iota(waiting.begin(), waiting.end(), 2);
    if (!waiting.empty()) MpiSink<RolloutGroup>(job, tag(number), waiting).close();
  }
  meet(job);
  return seconds;
}

/// Measures the work while the others wait in a blocking MPI receive, for comparison.
double seconds_beside_blocked_ranks(Job& job, int number) {
  meet(job);
  double seconds = 0;
  char byte = 0;
  const int mpi_tag = static_cast<int>(tag(number));
  if (job.rank() < 2) {
    seconds = work_seconds();
  } else {
    MPI_Recv(&byte, 1, MPI_CHAR, 0, mpi_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  for (int other = 2; job.rank() == 0 && other < job.size(); ++other) {
    MPI_Send(&byte, 1, MPI_CHAR, other, mpi_tag, MPI_COMM_WORLD);
  }
  meet(job);
  return seconds;
}

RolloutGroup group_of(std::size_t tokens) {
  RolloutGroup group;
  group.responses.resize(1);
  group.responses[0].ids.resize(tokens);
  group.responses[0].behavior_log_probs.resize(tokens);
  return group;
}

/// Returns the seconds of one round trip between ranks 0 and 1.
double round_trip_seconds(Job& job, int number, std::size_t tokens, int trips) {
  meet(job);
  if (job.rank() > 1) {
    meet(job);
    return 0;
  }
  MpiSink<RolloutGroup> sink(job, tag(number), {1 - job.rank()});
  MpiSource<RolloutGroup> source(job, tag(number), 1);
  RolloutGroup group = group_of(tokens);
  const double begin = now_seconds();
  for (int i = 0; i < trips; ++i) {
    if (job.rank() == 0) sink.send(std::move(group));
    group = std::move(*source.receive());
    if (job.rank() == 1) sink.send(std::move(group));
  }
  const double seconds = (now_seconds() - begin) / trips;
  sink.close();
  meet(job);
  return seconds;
}

double all_reduce_seconds(Job& job, std::size_t elements, int times) {
  const auto world = world_collective(job);
  std::vector<float> values(elements, 1e-3f);
  meet(job);
  const double begin = now_seconds();
  for (int i = 0; i < times; ++i) world->all_reduce_sum(std::span(values));
  return (now_seconds() - begin) / times;
}

double weight_sync_seconds(Job& job, std::size_t elements, int times, DType type) {
  const auto world = world_collective(job);
  std::vector<float> weights(elements, 1e-3f);
  meet(job);
  const double begin = now_seconds();
  for (int i = 0; i < times; ++i) {
    if (job.rank() == 0) {
      publish_weights(*world, i, DeviceSpan(std::span(weights)), {type});
    } else {
      test::receive_all(*world, std::span(weights));
    }
  }
  meet(job);
  return (now_seconds() - begin) / times;
}

void bench_waiting(Job& job) {
  double alone = 0;
  for (int i = 0; i < 3 && job.rank() < 2; ++i) {
    alone = i == 0 ? work_seconds() : std::min(alone, work_seconds());
  }
  const double channel = seconds_beside_waiting_ranks(job, 0, false);
  const double collective = seconds_beside_waiting_ranks(job, 1, true);
  const double blocked = seconds_beside_blocked_ranks(job, 2);
  if (job.rank() > 0) return;
  std::printf("work on ranks 0 and 1, with %d ranks waiting:\n", std::max(0, job.size() - 2));
  std::printf("  in a channel             %+6.1f %% (%.2f s, best of three alone %.2f s)\n",
              100 * (channel / alone - 1), channel, alone);
  std::printf("  in a collective          %+6.1f %%\n", 100 * (collective / alone - 1));
  std::printf("  in MPI_Recv (not ours)   %+6.1f %%\n", 100 * (blocked / alone - 1));
}

void bench_messages(Job& job) {
  constexpr std::size_t kLarge_tokens = 1'000'000;
  const RolloutGroup sample = group_of(kLarge_tokens);
  const double begin = now_seconds();
  for (int i = 0; i < 30 && job.rank() == 0; ++i) wire::unpack<RolloutGroup>(wire::pack(sample));
  const double packing = (now_seconds() - begin) / 30;
  const double small = round_trip_seconds(job, 3, 10, 2000);
  const double large = round_trip_seconds(job, 4, kLarge_tokens, 30);
  constexpr std::size_t kParameters = 5'000'000;
  const double reduce = all_reduce_seconds(job, kParameters, 10);
  const double sync = weight_sync_seconds(job, kParameters, 10, DType::kFloat32);
  const double rounded = weight_sync_seconds(job, kParameters, 10, DType::kBFloat16);
  if (job.rank() > 0) return;
  std::printf("round trip of a group of 10 tokens         %8.0f us\n", small * 1e6);
  std::printf("packing and unpacking 1 M tokens (8 MB)    %8.1f ms\n", packing * 1e3);
  std::printf("bandwidth of groups of 1 M tokens (8 MB)   %8.2f GB/s, packed and unpacked\n",
              2 * 8e-9 * static_cast<double>(kLarge_tokens) / large);
  std::printf("all-reduce of 5 M floats over %d ranks      %8.1f ms\n", job.size(), reduce * 1e3);
  std::printf("weight sync of 5 M floats to %d ranks       %8.1f ms, as bf16 %.1f ms\n",
              job.size() - 1, sync * 1e3, rounded * 1e3);
}

}  // namespace
}  // namespace lie

int main(int argc, char** argv) {
  CLI::App app("What waiting and messages cost: run it under mpirun -n 4");
  int status = 0;
  const int before = lie::bench::run_bench(app, argc, argv, [&] {
    lie::mpi::Environment environment;
    lie::Job job(environment);
    lie::widen_binding();
    status = job.run([&] {
      if (job.size() < 2) lie::fail("run it under mpirun -n 4");
      lie::bench_waiting(job);
      lie::bench_messages(job);
    });
  });
  return before != 0 ? before : status;
}
