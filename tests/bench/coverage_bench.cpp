// Measures coverage counting on one core, for words of a text and for token ids. Compares it with a
// hash map of joined strings, as in the published reward in Python.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/error.h"
#include "common/base/random.h"
#include "common/text/units.h"
#include "learner/record/distinct/distinct_count.h"
#include "rewards/coverage.h"
#include "tests/bench/arguments.h"

namespace {

using lie::Coverage;

constexpr std::int64_t kN = 10;

struct Responses {
  std::vector<std::string> texts;
  std::vector<std::vector<std::int32_t>> ids;
  std::size_t words = 0, bytes = 0;
};

/// Returns a word of a Zipf-like vocabulary of 30,000: rank r has a density of about 1/r.
std::int32_t zipf_word(std::uint32_t response, std::uint32_t i) {
  const float u = lie::random_uniform({.seed = 1, .stream = 200, .sample = response, .index = i});
  return static_cast<std::int32_t>(std::pow(30000.0, static_cast<double>(u))) - 1;
}

std::string spelled(std::int32_t id) {
  std::string word;
  const std::uint64_t bits =
      lie::random_bits({.seed = 2, .stream = 200, .index = static_cast<std::uint32_t>(id)});
  // Frequent words are short, as in any language.
  const int length = 2 + static_cast<int>(bits % 4) + (id > 100 ? 2 : 0) + (id > 3000 ? 2 : 0);
  for (int i = 0; i < length; ++i) word += static_cast<char>('a' + ((bits >> (5 * i + 8)) % 26));
  return word;
}

/// Returns text similar to reasoning: new words, and one in ten responses repeats its last 25
/// words.
Responses make_responses(std::uint32_t count, std::uint32_t length) {
  Responses all;
  for (std::uint32_t r = 0; r < count; ++r) {
    std::vector<std::int32_t> ids;
    std::string text;
    for (std::uint32_t i = 0; i < length; ++i) {
      const bool loops = r % 10 == 0 && i > length / 2;
      ids.push_back(loops ? ids[i - 25] : zipf_word(r, i));
      text += spelled(ids.back());
      text += i % 17 == 16 ? "\n\n" : i % 41 == 40 ? "_" : " ";
    }
    all.words += lie::split_words(text).size();
    all.bytes += text.size();
    all.texts.push_back(std::move(text));
    all.ids.push_back(std::move(ids));
  }
  return all;
}

Coverage count_plainly(const std::string& text) {
  const auto words = lie::split_words(text);
  std::unordered_map<std::string, std::int32_t> grams;
  Coverage coverage;
  for (std::size_t i = 0; i + kN <= words.size(); ++i) {
    std::string gram;
    for (std::size_t k = 0; k < kN; ++k) gram.append(words[i + k]) += '\x1f';
    coverage.largest_repeat = std::max(coverage.largest_repeat, ++grams[gram]);
    ++coverage.ngrams;
  }
  coverage.distinct_ngrams = static_cast<std::int64_t>(grams.size());
  return coverage;
}

/// Returns the best rate of `rounds` over all responses, in millions per second.
template <typename Work>
double rate(int rounds, std::size_t amount, Work&& work) {
  double best = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(amount) / seconds / 1e6);
  }
  return best;
}

/// Counts C_global over all responses, like that of a step: of words if `words`, else of token ids.
std::int64_t count_globally(const Responses& all, std::int64_t n, bool words) {
  static lie::DistinctCount count(std::int64_t{1} << 30);
  count.clear();
  std::vector<lie::UnitHash> units;
  std::vector<lie::StateKey> keys;
  for (std::size_t i = 0; i < all.ids.size(); ++i) {
    units.clear();
    words ? append_unit_hashes(all.texts[i], units) : append_unit_hashes(all.ids[i], units);
    ngram_keys(units, n, keys);
    count.add(keys);
  }
  return count.count();
}

/// Counts `distinct` different bigrams (i, i + 1), each of them twice.
void measure_distinct(std::int64_t distinct, std::int64_t budget_mebibytes) {
  constexpr std::int32_t kLength = 8192;
  lie::DistinctCount count(budget_mebibytes << 20);
  std::vector<lie::UnitHash> units;
  std::vector<lie::StateKey> keys;
  std::vector<std::int32_t> ids(kLength + 1);
  for (const int round : {1, 2}) {
    const std::clock_t begin = std::clock();
    for (std::int64_t first = 0; first < distinct; first += kLength) {
      std::iota(ids.begin(), ids.end(), static_cast<std::int32_t>(first));
      units.clear();
      append_unit_hashes(ids, units);
      ngram_keys(units, 2, keys);
      keys.resize(static_cast<std::size_t>(std::min<std::int64_t>(kLength, distinct - first)));
      count.add(keys);
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    fmt::print(
        "{} time(s) {} distinct n-grams, budget {} MiB: counted {} ({:+.4f} %, standard error "
        "{:.2f} %), {:.1f} MiB, {:.2f} s\n",
        round, distinct, budget_mebibytes, count.count(),
        100 * (static_cast<double>(count.count()) / static_cast<double>(distinct) - 1),
        100 * count.error(), static_cast<double>(count.memory_bytes()) / (1 << 20), seconds);
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("largest memory of the process: {} MiB\n", usage.ru_maxrss >> 10);
}

void measure(std::uint32_t count, std::uint32_t length) {
  const Responses all = make_responses(count, length);
  const std::size_t tokens = std::size_t{count} * length;
  std::int64_t fast = 0, plain = 0;

  lie::ResponseCoverage words({.unit = lie::CoverageUnit::kWords, .ngram = kN});
  lie::ResponseCoverage tokens_of({.unit = lie::CoverageUnit::kTokens, .ngram = kN});
  const double word_rate = rate(7, all.words, [&] {
    fast = 0;
    for (const auto& text : all.texts) fast += words.count(text, {}).distinct_ngrams;
  });
  const double plain_rate = rate(1, all.words, [&] {
    for (const auto& text : all.texts) plain += count_plainly(text).distinct_ngrams;
  });
  const double token_rate = rate(7, tokens, [&] {
    for (const auto& ids : all.ids) tokens_of.count({}, ids);
  });
  fmt::print("coverage of {} responses of {} words ({:.1f} bytes a word), n = {}, one core\n",
             count, length, static_cast<double>(all.bytes) / static_cast<double>(all.words), kN);
  fmt::print("words from text, C_context       {:8.1f} Mword/s\n", word_rate);
  fmt::print("  hash map of joined strings     {:8.1f} Mword/s\n", plain_rate);
  fmt::print("token ids, C_context             {:8.1f} Mtoken/s\n", token_rate);
  for (const std::int64_t n : {2, 6, 10, 15}) {
    const double ids = rate(3, tokens, [&] { count_globally(all, n, false); });
    const double of_words = rate(3, all.words, [&] { count_globally(all, n, true); });
    fmt::print("C_global over all, n = {:<2}        {:8.1f} Mtoken/s {:8.1f} Mword/s\n", n, ids,
               of_words);
  }
  if (fast != plain) lie::fail("the counts differ: {} and {}", fast, plain);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of coverage counting on one core");
  std::uint32_t count = 200, length = 8000;
  lie::bench::add_count(app, "responses", count);
  lie::bench::add_count(app, "words", length);
  CLI::App* distinct =
      app.add_subcommand("distinct", "memory, error and speed of C_global at N n-grams");
  std::int64_t ngrams = 0, budget = 0;
  lie::bench::add_count(*distinct, "N", ngrams)->required();
  lie::bench::add_count(*distinct, "BUDGET_MEBIBYTES", budget)->required();
  return lie::bench::run_bench(app, argc, argv, [&] {
    distinct->parsed() ? measure_distinct(ngrams, budget) : measure(count, length);
  });
}
