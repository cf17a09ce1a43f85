#include "common/trajectory/digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "common/io/sha256.h"

namespace lie {
namespace {

static_assert(std::endian::native == std::endian::little, "the digest is over little-endian bytes");

template <typename T>
void add(Sha256& hash, std::span<const T> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  hash.update(std::as_bytes(std::span(&count, 1)));
  hash.update(std::as_bytes(values));
}

template <typename T>
void add(Sha256& hash, const std::vector<T>& values) {
  add(hash, std::span<const T>(values));
}

void add(Sha256& hash, const std::string& text) { add(hash, std::span<const char>(text)); }

template <typename T>
void add_one(Sha256& hash, T value) {
  hash.update(std::as_bytes(std::span(&value, 1)));
}

/// The fixed-size columns of all responses, as one row of bytes per response in canonical order.
class FixedColumns {
 public:
  explicit FixedColumns(const RunReader& run) : run_(run) {}

  template <typename C>
  void add(const C& column) {
    using T = typename C::Value;
    const std::size_t at = missing_row_.size();
    const T none = std::numeric_limits<T>::quiet_NaN();
    const auto bytes = std::as_bytes(std::span(&none, 1));
    missing_row_.insert(missing_row_.end(), bytes.begin(), bytes.end());
    readings_.push_back(run_.each(column, [this, at](std::size_t i, T value) {
      std::memcpy(&rows_[i * missing_row_.size() + at], &value, sizeof value);
    }));
  }
  void read() {
    for (std::size_t i = 0; i < run_.samples().size(); ++i) {
      rows_.insert(rows_.end(), missing_row_.begin(), missing_row_.end());
    }
    run_.read(readings_);
  }
  std::span<const std::byte> row(std::size_t index) const {
    return std::span(rows_).subspan(index * missing_row_.size(), missing_row_.size());
  }

 private:
  const RunReader& run_;
  std::vector<std::byte> missing_row_;  // a row of a segment without any of the columns
  std::vector<RunReader::Reading> readings_;
  std::vector<std::byte> rows_;
};

void add_columns(FixedColumns& fixed, const RunReader& run) {
  namespace c = schema::sample;
  const auto add = [&](const auto&... columns) { (fixed.add(columns), ...); };
  add(c::kSample, c::kPolicyVersion, c::kTokenCount, c::kPromptCount, c::kFinishReason, c::kVerdict,
      c::kExtractedCount);
  for (const RewardName& reward : run.rewards()) add(schema::reward_column(reward.name));
  add(c::kReward, c::kAdvantage, c::kReferenceLength, c::kTargetLength, c::kDistinctNgrams,
      c::kNgrams, c::kLargestRepeat, c::kSequenceLogRatio, c::kClipped, c::kMiniBatch);
  for (const std::string& name : run.numbers()) add(schema::number_column(name));
}

void add_problem(Sha256& hash, const RunReader& run, std::size_t index, std::int64_t problem_row) {
  const SampleKey& key = run.samples()[index].key;
  const ProblemText problem = run.problem(index);
  add_one(hash, key.purpose);
  add_one(hash, key.step);
  add_one(hash, key.group);
  add_one(hash, problem_row);
  add(hash, problem.text);
  add(hash, problem.gold);
  add(hash, problem.data_source);
  add(hash, problem.prompt_ids);
}

/// The token columns of one segment for consecutive responses, read at once.
struct TokenBlock {
  std::int64_t first = 0, end = 0;
  std::vector<std::int32_t> ids;
  std::vector<float> behavior, learner;

  void cover(std::int64_t offset, std::int64_t count) {
    first = end == 0 ? offset : std::min(first, offset);
    end = std::max(end, offset + count);
  }
  void read(const SegmentReader& file) {
    ids = file.read(schema::token::kId, first, end - first);
    behavior = file.read(schema::token::kBehaviorLogProb, first, end - first);
    learner = file.read(schema::token::kLearnerLogProb, first, end - first);
  }
  void add_to(Sha256& hash, std::int64_t offset, std::int64_t count) const {
    const auto from = static_cast<std::size_t>(offset - first);
    const auto size = static_cast<std::size_t>(count);
    add(hash, std::span(ids).subspan(from, size));
    add(hash, std::span(behavior).subspan(from, size));
    add(hash, std::span(learner).subspan(from, size));
  }
};

/// Columns that hashing needs besides the fixed columns, by response.
struct Places {
  std::vector<std::int64_t> problem, token_offset, extracted_offset;
  std::vector<std::int32_t> token_count, extracted_count;
};

Places read_places(const RunReader& run) {
  namespace c = schema::sample;
  Places places;
  run.read(std::array{run.into(places.problem, c::kProblem),
                      run.into(places.token_offset, c::kTokenOffset),
                      run.into(places.token_count, c::kTokenCount),
                      run.into(places.extracted_offset, c::kExtractedOffset),
                      run.into(places.extracted_count, c::kExtractedCount)});
  return places;
}

std::vector<TokenBlock> read_blocks(const RunReader& run, const Places& places, std::size_t begin,
                                    std::size_t end) {
  std::vector<TokenBlock> blocks(run.segments().size());
  for (std::size_t i = begin; i < end; ++i) {
    blocks[run.samples()[i].segment].cover(places.token_offset[i], places.token_count[i]);
  }
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    if (blocks[s].end > 0) blocks[s].read(run.segments()[s]);
  }
  return blocks;
}

bool same_step(const SamplePlace& a, const SamplePlace& b) {
  return a.key.purpose == b.key.purpose && a.key.step == b.key.step;
}

bool same_group(const SamplePlace& a, const SamplePlace& b) {
  return same_step(a, b) && a.key.group == b.key.group;
}

}  // namespace

std::string trajectories_digest(const RunReader& run) {
  const auto& samples = run.samples();
  FixedColumns fixed(run);
  add_columns(fixed, run);
  fixed.read();
  const Places places = read_places(run);
  Sha256 hash;
  hash.update("lie trajectories 1");
  for (const std::string& name : run.numbers()) add(hash, name);
  const std::vector<VersionRuns> versions = run.version_runs();
  std::vector<TokenBlock> blocks;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i == 0 || !same_step(samples[i - 1], samples[i])) {
      std::size_t end = i;
      while (end < samples.size() && same_step(samples[i], samples[end])) ++end;
      blocks = read_blocks(run, places, i, end);
    }
    if (i == 0 || !same_group(samples[i - 1], samples[i]))
      add_problem(hash, run, i, places.problem[i]);
    hash.update(fixed.row(i));
    add(hash, run.segments()[samples[i].segment].text(places.extracted_offset[i],
                                                      places.extracted_count[i]));
    blocks[samples[i].segment].add_to(hash, places.token_offset[i], places.token_count[i]);
    if (!versions[i].empty()) add(hash, versions[i]);
  }
  return hash.hex_digest();
}

}  // namespace lie
