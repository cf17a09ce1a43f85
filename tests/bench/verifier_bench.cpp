// Measures the verifier's pairs per second on one core, parsing included. The pairs are MATH-500
// golds with their reference solutions, model outputs for GSM8K, and short boxed answers. --pairs
// FILE writes the pairs as JSON lines, so that verifier_bench.py can time Math-Verify on them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/bench/arguments.h"
#include "tests/directories.h"
#include "verifier/verify.h"

namespace lie {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Pair {
  std::string gold, response;
};

struct PairSet {
  std::string name;
  ExtractionMode mode = ExtractionMode::kReward;
  std::vector<Pair> pairs;
};

std::vector<json> rows_of(const std::filesystem::path& path) {
  std::vector<json> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) rows.push_back(json::parse(line));
  return rows;
}

PairSet math_solutions(const std::filesystem::path& data) {
  PairSet set{"MATH-500 gold against reference solution", ExtractionMode::kReward, {}};
  for (const json& row : rows_of(data / "math500.jsonl"))
    set.pairs.push_back({row["answer"].get<std::string>(), row["solution"].get<std::string>()});
  return set;
}

PairSet model_outputs(const std::filesystem::path& data) {
  PairSet set{"GSM8K model outputs (lenient)", ExtractionMode::kLenient, {}};
  for (const json& row : rows_of(data / "gsm8k_model_solutions.jsonl")) {
    const std::string truth = row["ground_truth"];
    const std::string gold = truth.substr(truth.rfind("A: ") + 3);
    for (const char* model :
         {"6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"})
      if (row.contains(model))
        set.pairs.push_back({gold, row[model]["solution"].get<std::string>()});
  }
  return set;
}

// Pairs each gold with itself and with the next one. Their spelling differs slightly, so that a
// comparison of texts does not decide.
PairSet short_answers(const std::filesystem::path& data) {
  PairSet set{"short boxed answers", ExtractionMode::kReward, {}};
  const std::vector<json> rows = rows_of(data / "math500.jsonl");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string gold = rows[i]["answer"];
    const std::string next = rows[(i + 1) % rows.size()]["answer"];
    set.pairs.push_back({gold, "The answer is $\\boxed{ " + gold + " }$."});
    set.pairs.push_back({gold, "The answer is $\\boxed{" + next + "}$."});
  }
  return set;
}

double seconds_of(const Pair& pair, const VerifierOptions& options, bool& correct) {
  const auto start = Clock::now();
  correct = verify(pair.gold, pair.response, options).correct();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void report(const PairSet& set, VerifierOptions options) {
  if (set.pairs.empty()) return;
  options.mode = set.mode;
  constexpr int kRounds = 5;
  std::vector<double> best(set.pairs.size(), 1e9);
  double fastest = 1e9;
  int right = 0;
  for (int round = 0; round < kRounds; ++round) {
    right = 0;
    const auto start = Clock::now();
    for (std::size_t i = 0; i < set.pairs.size(); ++i) {
      bool correct = false;
      best[i] = std::min(best[i], seconds_of(set.pairs[i], options, correct));
      right += correct ? 1 : 0;
    }
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  const auto worst = std::max_element(best.begin(), best.end()) - best.begin();
  const double worst_seconds = best[static_cast<std::size_t>(worst)];
  std::ranges::sort(best);
  fmt::print(
      "{}: {} pairs, {} right, {:.0f} pairs/s, median {:.1f} us, p99 {:.1f} us, worst {:.1f} us "
      "(gold {})\n",
      set.name, set.pairs.size(), right, static_cast<double>(set.pairs.size()) / fastest,
      1e6 * best[best.size() / 2], 1e6 * best[best.size() * 99 / 100], 1e6 * worst_seconds,
      set.pairs[static_cast<std::size_t>(worst)].gold);
}

void write_pairs(const std::vector<PairSet>& sets, const std::string& path) {
  std::ofstream out(path);
  for (const PairSet& set : sets)
    for (const Pair& pair : set.pairs)
      out << json{{"set", set.name}, {"gold", pair.gold}, {"response", pair.response}}.dump()
          << '\n';
}

void run(const std::string& pairs) {
  const std::filesystem::path data =
      std::filesystem::path(source_directory()) / ".." / "shared" / "data" / "problems";
  if (!std::filesystem::exists(data)) {
    fmt::print("no shared/data/problems beside the repository: nothing to measure\n");
    return;
  }
  const std::vector<PairSet> sets = {math_solutions(data), model_outputs(data),
                                     short_answers(data)};
  if (!pairs.empty()) write_pairs(sets, pairs);
  for (const bool shortcuts : {true, false}) {
    fmt::print("{}\n", shortcuts ? "with the text shortcut:"
                                 : "without it (everything is parsed or read as a number):");
    VerifierOptions options;
    options.identical_text = shortcuts;
    for (const PairSet& set : sets) report(set, options);
  }
}

}  // namespace
}  // namespace lie

int main(int argc, char** argv) {
  CLI::App app("Pairs a second of the verifier, parse and verify together, on one core");
  std::string pairs;
  app.add_option("--pairs", pairs, "write the pairs to this file as JSON lines");
  return lie::bench::run_bench(app, argc, argv, [&] { lie::run(pairs); });
}
