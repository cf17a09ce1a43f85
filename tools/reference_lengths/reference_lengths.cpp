#include "tools/reference_lengths/reference_lengths.h"

#include <deque>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/dataset/parquet.h"
#include "common/dataset/rows.h"
#include "common/error.h"
#include "common/file.h"
#include "common/log.h"
#include "common/sha256.h"
#include "tools/pool/group_progress.h"
#include "tools/pool/rank_pool.h"
#include "tools/reference_lengths/length_log.h"
#include "tools/train/run_prompts.h"
#include "tools/train/train_config.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

/// What the lengths depend on; numbers of slots, ranks and threads are not among it.
std::string measurement_of(const TrainConfig& config, const Dataset& dataset,
                           std::int64_t samples) {
  const SamplingOptions& sampling = config.rollout.sampling;
  Sha256 sha;
  const auto add = [&](const std::string& part) {
    sha.update(std::as_bytes(std::span(part)));
    sha.update(std::as_bytes(std::span("\0", 1)));
  };
  add(fmt::format("{} {} {} {} {} {} {} {} {}", config.model.path, config.model.device,
                  config.run.seed, samples, sampling.temperature, sampling.top_p, sampling.top_k,
                  sampling.max_response_tokens, config.rollout.max_prompt_tokens));
  add(fmt::format("{}", fmt::join(config.rollout.end_of_sequence_ids, " ")));
  for (const Prompt& prompt : dataset.prompts) {
    add(fmt::format("{} {}", prompt.problem, prompt.text));
  }
  return sha.hex_digest();
}

/// Rank 0's part.
class Measurement {
 public:
  Measurement(const TrainConfig& config, const ReferenceLengthsArguments& arguments)
      : input_(config.data.train_file),
        output_(arguments.output),
        dataset_(read_run_prompts(input_, config.data, config.model.path)),
        log_(output_.string() + ".progress", measurement_of(config, dataset_, arguments.samples)) {
    for (const Prompt& prompt : dataset_.prompts) {
      const std::int64_t group = prompts_++;
      if (log_.measured().contains(group)) continue;
      tickets_.push_back({.group = group,
                          .samples = static_cast<std::int32_t>(arguments.samples),
                          .prompt = prompt});
    }
    progress_.emplace(stderr, prompts_, prompts_ - std::ssize(tickets_));
  }

  std::deque<Ticket> tickets() const { return tickets_; }

  void take(const RolloutGroup& group) {
    log_.append(group);
    progress_->add(group);
  }

  void write() {
    progress_->finish();
    if (is_parquet(input_) && output_.extension() == ".parquet") {
      add_parquet_column(input_, output_, "reference_length", column());
    } else {
      write_file_atomically(output_, lines());
    }
    say_summary();
    log_.remove();
  }

 private:
  /// By row of the file.
  std::map<std::int64_t, double> lengths_by_row() const {
    std::map<std::int64_t, double> lengths;
    for (const auto& [group, measured] : log_.measured()) {
      lengths[dataset_.prompts[static_cast<std::size_t>(group)].problem] = measured.mean();
    }
    return lengths;
  }

  std::vector<double> column() const {
    std::vector<double> values(static_cast<std::size_t>(dataset_.rows),
                               std::numeric_limits<double>::quiet_NaN());
    for (const auto& [row, length] : lengths_by_row()) {
      values[static_cast<std::size_t>(row)] = length;
    }
    return values;
  }

  std::string lines() const {
    const auto lengths = lengths_by_row();
    std::string text;
    std::vector<std::string> skipped;  // bad rows: they have no length
    for_each_row(
        input_,
        [&](const JsonRow& row, std::int64_t number) {
          const auto length = lengths.find(number);
          if (length == lengths.end()) return;
          nlohmann::json object = row.object();
          object["reference_length"] = length->second;
          text += object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
        },
        &skipped);
    return text;
  }

  void say_summary() const {
    double sum = 0;
    std::int64_t samples = 0, at_limit = 0;
    for (const auto& [group, measured] : log_.measured()) {
      sum += measured.mean();
      samples += std::ssize(measured.tokens);
      at_limit += measured.at_limit;
    }
    const Log voice("actor", 0);
    if (!dataset_.skipped.empty()) voice.warn("{}", skipped_rows_text(dataset_));
    voice.info(
        "{}: {} prompts, mean reference length {:.1f} tokens; {} of {} responses reached the "
        "limit",
        output_.string(), prompts_, sum / static_cast<double>(prompts_), at_limit, samples);
  }

  fs::path input_, output_;
  Dataset dataset_;
  LengthLog log_;
  std::int64_t prompts_ = 0;
  std::deque<Ticket> tickets_;
  std::optional<GroupProgress> progress_;
};

}  // namespace

void reference_lengths(Job& job, const ReferenceLengthsArguments& arguments) {
  job.set_role("actor");
  job.set_activity("preparing");
  const TrainConfig config = load_train_config(arguments.config, arguments.overrides);
  const PoolOptions pool{.model = config.model,
                         .rollout = config.rollout,
                         .seed = static_cast<std::uint64_t>(config.run.seed),
                         .keep_binding = config.roles.keep_binding};
  if (job.rank() > 0) return generate_over_ranks(job, pool, {}, {});
  Measurement measurement(config, arguments);
  generate_over_ranks(job, pool, measurement.tickets(),
                      [&](const RolloutGroup& group) { measurement.take(group); });
  measurement.write();
}

}  // namespace lie
