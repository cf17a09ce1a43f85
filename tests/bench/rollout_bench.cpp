// Measures generation of responses whose lengths have a long tail. Compares two policies of KV
// cache pages in the same memory: reserved for the longest response, or allocated as they are used.
// Then compares prompts in drawn order with the longest L_ref first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <map>
#include <vector>

#include "actors/generator.h"
#include "common/base/clock.h"
#include "common/base/error.h"
#include "learner/schedule/dispatcher.h"
#include "model/cpu/operators.h"
#include "tests/bench/arguments.h"
#include "tests/bench/bench_model.h"

namespace lie::bench {
namespace {

constexpr std::int32_t kEnd = 0;

struct Arguments {
  int threads = 2;
  std::int64_t prompts = 64, samples = 8, slots = 128, longest = 2048, cache_mebibytes = 64;
  int actors = 8;
};

/// Returns log-normal lengths by prompt and by response: median 200 tokens, mean 305, one in a
/// hundred over 1,700.
double median_length(std::uint32_t problem) {
  return 200 * std::exp(0.7F * random_normal({.problem = problem}));
}

std::int64_t length_of(std::uint32_t problem, std::uint32_t sample, std::int64_t longest) {
  const double length =
      median_length(problem) *
      std::exp(0.6F * random_normal({.problem = problem, .sample = sample, .index = 1}));
  return std::clamp(static_cast<std::int64_t>(length), std::int64_t{1}, longest);
}

/// Ends each response at its length. The tokens before come from the policy.
class ScriptedEnds : public cpu::CpuOperators {
 public:
  ScriptedEnds(int threads, std::int64_t samples, std::int64_t longest)
      : cpu::CpuOperators(threads), samples_(samples), longest_(longest) {}

  void sample(Tensor logits, std::span<const Draw> draws, const DrawnTokens& drawn) override {
    cpu::CpuOperators::sample(logits, draws, drawn);
    auto* const ids = static_cast<std::int32_t*>(drawn.ids.data);
    for (std::size_t i = 0; i < draws.size(); ++i) {
      const RandomKey& key = draws[i].key;
      const auto sample = static_cast<std::uint32_t>(key.sample % samples_);
      const bool ends = key.index + 1 == length_of(key.problem, sample, longest_);
      ids[i] = ends ? kEnd : std::max(ids[i], kEnd + 1);
    }
  }

 private:
  const std::int64_t samples_, longest_;
};

std::deque<Ticket> tickets_of(const Arguments& given, bool with_lengths) {
  std::deque<Ticket> tickets;
  for (std::int64_t i = 0; i < given.prompts; ++i) {
    Ticket& ticket = tickets.emplace_back();
    ticket.group = ticket.prompt.problem = i;
    ticket.samples = static_cast<std::int32_t>(given.samples);
    if (with_lengths) ticket.prompt.reference_length = median_length(static_cast<std::uint32_t>(i));
  }
  return tickets;
}

std::vector<std::int32_t> some_prompt(const Prompt& prompt) {
  std::vector<std::int32_t> ids;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const RandomKey key{.problem = static_cast<std::uint32_t>(prompt.problem), .index = i};
    ids.push_back(static_cast<std::int32_t>(random_bits(key) % 511) + 1);
  }
  return ids;
}

using Answers = std::map<std::int64_t, std::vector<std::vector<std::int32_t>>>;

/// Generates all responses and prints the cost.
Answers generated(const Arguments& given, bool preemption) {
  ModelConfig config = bench_config();
  config.max_positions = 128 + given.longest;
  config.end_of_sequence_ids = {kEnd};
  ScriptedEnds operators(given.threads, given.samples, given.longest);
  const Weights weights = initial_weights(config, 1, operators);
  Transformer policy(weights);
  RolloutOptions options{.slots = given.slots,
                         .max_prompt_tokens = 128,
                         .cache_mebibytes = given.cache_mebibytes,
                         .preemption = preemption};
  options.sampling.max_response_tokens = options.evaluation.max_response_tokens = given.longest;
  Generator generator(policy, operators, config, options, 1, some_prompt);
  for (Ticket& ticket : tickets_of(given, true)) generator.add(std::move(ticket));
  Answers answers;
  std::int64_t passes = 0;
  const Stopwatch watch;
  const std::clock_t start = std::clock();
  for (; !generator.idle(); ++passes) {
    for (RolloutGroup& group : generator.step()) {
      for (Response& response : group.responses) {
        answers[group.ticket.group].push_back(std::move(response.ids));
      }
    }
  }
  const double processor_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const CacheUse& use = generator.cache_use();
  const auto tokens = static_cast<double>(generator.tokens_generated());
  fmt::print(
      "{:<22} {:6.1f} responses in flight (at most {}), {:6} passes, {:8.0f} tokens/s, {:.0f} per "
      "processor second; {} preempted, {:.1f} % of tokens re-prefilled, {:.0f} % of {} pages used "
      "at most\n",
      preemption ? "pages as they are used" : "pages for the longest",
      tokens / static_cast<double>(passes), use.peak_responses, passes, tokens / watch.seconds(),
      tokens / processor_seconds, use.preempted,
      100 * static_cast<double>(use.tokens_reprefilled) / tokens,
      100 * static_cast<double>(use.peak_pages) / static_cast<double>(use.pages), use.pages);
  return answers;
}

/// Simulates actors that need one pass for a token of each response in flight.
struct SimulatedActor {
  struct Response {
    std::int64_t group, tokens_left;
  };
  std::vector<Response> running;
  std::deque<Response> waiting;
};

/// Counts the passes until all responses are finished. Every actor has `slots` of its own.
class SimulatedStep {
 public:
  SimulatedStep(const Arguments& given, bool longest_first)
      : given_(given),
        out_(tickets_of(given, longest_first), static_cast<std::size_t>(given.actors)),
        actors_(static_cast<std::size_t>(given.actors)),
        left_(static_cast<std::size_t>(given.prompts), given.samples) {}

  /// Returns the idle share of the slots, or of the responses if there are fewer.
  double idle_share() {
    std::int64_t passes = 0;
    for (; !out_.all_ended(); ++passes) {
      for (std::size_t actor = 0; actor < actors_.size(); ++actor) pass(static_cast<int>(actor));
    }
    return 1 - static_cast<double>(tokens_) / static_cast<double>(passes * given_.actors * slots());
  }

 private:
  std::int64_t slots() const {
    return std::min(given_.slots, given_.prompts * given_.samples / given_.actors);
  }

  void pass(int number) {
    SimulatedActor& actor = actors_[static_cast<std::size_t>(number)];
    take_tickets(number, actor);
    while (std::ssize(actor.running) < given_.slots && !actor.waiting.empty()) {
      actor.running.push_back(actor.waiting.front());
      actor.waiting.pop_front();
    }
    tokens_ += std::ssize(actor.running);
    std::erase_if(actor.running, [&](auto& response) {
      if (--response.tokens_left > 0) return false;
      end(response.group);
      return true;
    });
  }

  void take_tickets(int number, SimulatedActor& actor) {
    const std::int64_t room = given_.slots - std::ssize(actor.running) - std::ssize(actor.waiting);
    if (room <= 0 || out_.done()) return;
    for (const Ticket& ticket :
         out_.next(number, {.free_slots = room, .spare = given_.slots / 2})) {
      const auto [first, count] = ticket.asked();
      for (std::int32_t sample = first; sample < first + count; ++sample) {
        actor.waiting.push_back(
            {ticket.group, length_of(static_cast<std::uint32_t>(ticket.group),
                                     static_cast<std::uint32_t>(sample), given_.longest)});
      }
    }
  }

  void end(std::int64_t group) {
    if (--left_[static_cast<std::size_t>(group)] > 0) return;
    Ticket whole;
    whole.group = group;
    whole.samples = static_cast<std::int32_t>(given_.samples);
    out_.end(whole);
  }

  const Arguments given_;
  HandOut out_;
  std::vector<SimulatedActor> actors_;
  std::vector<std::int64_t> left_;  // [prompts] responses in flight or not begun
  std::int64_t tokens_ = 0;
};

void run(const Arguments& given) {
  const Answers before = generated(given, false), after = generated(given, true);
  if (before != after) fail("the two policies sampled different tokens");
  fmt::print("the same tokens\n");
  Arguments many = given;
  many.slots = 16;
  for (const std::int64_t prompts : {given.prompts, 4 * given.prompts}) {
    many.prompts = prompts;
    fmt::print(
        "{} prompts, {} actors of {} slots: idle {:.1f} % as drawn, {:.1f} % longest first\n",
        prompts, many.actors, many.slots, 100 * SimulatedStep(many, false).idle_share(),
        100 * SimulatedStep(many, true).idle_share());
  }
}

}  // namespace
}  // namespace lie::bench

int main(int argc, char** argv) {
  CLI::App app("Responses of long-tailed lengths: KV cache by use, longest first");
  lie::bench::Arguments given;
  lie::bench::add_threads(app, given.threads);
  lie::bench::add_count(app, "--prompts", given.prompts);
  lie::bench::add_count(app, "--samples", given.samples);
  lie::bench::add_count(app, "--slots", given.slots);
  lie::bench::add_count(app, "--longest", given.longest);
  lie::bench::add_count(app, "--cache-mebibytes", given.cache_mebibytes);
  lie::bench::add_count(app, "--actors", given.actors);
  return lie::bench::run_bench(app, argc, argv, [&] { lie::bench::run(given); });
}
