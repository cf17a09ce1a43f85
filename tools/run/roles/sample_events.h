// Texts of evaluations and distributions of response lengths for TensorBoard, recorded by learner
// 0:
//
//   tensorboard/samples/   one event file per start
//
// Unlike the curves they cannot be made again from metrics.jsonl, so each start adds a file, which
// replaces the records that earlier files hold of its steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "common/io/tensorboard.h"
#include "learner/step.h"
#include "model/tokenizer/tokenizer.h"
#include "tools/run/start/run_start.h"

namespace lie {

class SampleEvents : public StepRecorder {
 public:
  /// The logged steps of `start` are in the files of earlier starts. Creates nothing before the
  /// first step.
  SampleEvents(const std::filesystem::path& run_directory, const RunStart& start);

  void record(StepOutcome& step) override;

 private:
  void record_lengths(std::int64_t step, const char* tag, std::span<const ScoredGroup> groups);
  void record_texts(const StepOutcome& step);
  void write(const std::string& record);

  std::filesystem::path directory_;
  std::int64_t first_step_;
  Tokenizer tokenizer_;  // loaded at once: the run may remove the checkpoint that it resumes from
  std::optional<EventWriter> events_;
};

}  // namespace lie
