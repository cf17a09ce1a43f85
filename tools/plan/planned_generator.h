// An actor's generator (actors/generator.h) without a model: which responses are in flight, and
// what its forward passes cost.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <queue>
#include <utility>
#include <vector>

#include "common/rollout/rollout.h"
#include "tools/plan/costs.h"
#include "tools/plan/lengths.h"

namespace lie::planning {

/// How many responses an actor has.
struct GeneratorSizes {
  std::int64_t slots = 0;         // rollout.slots
  std::int64_t in_flight = 0;     // of them at once: as many as the KV cache admits
  double least_pass_seconds = 0;  // rollout.pass_milliseconds: a pass that computes less waits
};

/// Passes go on in stretches, at whose end a response ends.
class PlannedGenerator {
 public:
  PlannedGenerator(const GeneratorSizes& sizes, RankCosts costs)
      : sizes_(sizes), costs_(std::move(costs)) {}

  /// Queues a ticket of a group of these lengths.
  void add(Ticket ticket, const GroupLengths& lengths);
  /// As Generator::room().
  std::int64_t room() const;
  bool idle() const { return tickets_.empty(); }

  /// Begins the responses for which there is room and then a stretch. Not when idle. Returns its
  /// seconds.
  double begin();
  /// Of those seconds, the share in which it computes.
  double computing() const { return computing_; }
  /// The seconds of a stretch that ends with the pass in progress after `done` seconds.
  double cut(double done);
  /// The stretch is over. Returns the tickets that are done.
  std::vector<Ticket> end();

  std::int64_t tokens() const { return tokens_; }  // generated

 private:
  struct Work {
    Ticket ticket;
    std::vector<std::int64_t> lengths;  // of the responses asked for
    std::int64_t prompt = 0, begun = 0, ended = 0;
  };
  struct Running {
    std::int64_t last_pass = 0;
    std::int64_t number = 0;  // in the order of beginning
    Work* work = nullptr;
    bool operator>(const Running& other) const {
      return std::pair(last_pass, number) > std::pair(other.last_pass, other.number);
    }
  };

  void begin_responses();

  GeneratorSizes sizes_;
  RankCosts costs_;
  std::list<Work> tickets_;  // addresses are held by Running
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  std::int64_t to_begin_ = 0, begun_ = 0, tokens_ = 0;
  std::int64_t pass_ = 0;       // done
  std::int64_t stretch_ = 0;    // passes
  double prefill_seconds_ = 0;  // within the stretch's first pass
  double pass_seconds_ = 0, computing_ = 1;
};

}  // namespace lie::planning
