// The commands of lie_cluster that this folder declares. Each add_ function adds one command to the
// program; parsing that command sets `chosen` to what runs it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "actors/rollout_options.h"
#include "tools/arguments/config_command.h"
#include "tools/arguments/job_program.h"
#include "tools/run/config/options.h"

namespace lie {

// These run as a job: on every rank of mpirun or srun, or in one process.
void add_train(CLI::App& program, JobCommand& chosen);
void add_sft(CLI::App& program, JobCommand& chosen);
void add_reference_lengths(CLI::App& program, JobCommand& chosen);

// These run in one process.
void add_data(CLI::App& program, ProcessCommand& chosen);
void add_init(CLI::App& program, ProcessCommand& chosen);
void add_tokenize(CLI::App& program, ProcessCommand& chosen);
void add_score(CLI::App& program, ProcessCommand& chosen);
void add_generate(CLI::App& program, ProcessCommand& chosen);
void add_plan(CLI::App& program, ProcessCommand& chosen);

/// Runs the command that the command line names, of these and of the other folders. Errors of the
/// command line are reported once for the job, before MPI is initialized. Returns the exit status.
int run_command_line(int argc, char** argv);

// What the commands do, for their tests.

/// Checks a config of sft. Throws Error if it is not valid.
void check_sft_config(const std::filesystem::path& config);

struct InitArguments {
  std::filesystem::path model;  // Hugging Face directory
  std::filesystem::path data;   // JSONL or Parquet
  std::int64_t samples = 4;     // responses to each probed prompt; 0: none are generated
  std::vector<std::string> overrides = {};  // key=value of data.*: how rows become prompts
};

/// Returns a commented config of `lie_cluster train` that runs unchanged. Field names are guessed
/// from the rows, the prompt limit fits the longest prompt, and the other sizes fit the model and
/// this machine's memory. A few responses of the model choose response limit, length reward and
/// unit of coverage, and show whether RL can begin; the model's size chooses the step sizes. Reward
/// terms for which rows lack a field are switched off, with the reason. Throws Error if the model
/// or the data cannot be read, or if no prompt or no gold answer is recognized in the rows.
std::string initial_config(const InitArguments& arguments);

struct PlanArguments : ConfigArguments {
  std::vector<std::int64_t> ranks = {4};
  std::int64_t ranks_per_host = 0;
  std::string run;  // a run directory; empty: run.directory, if it has a log
  bool json = false;
};

/// Prints the plan to `out`. Throws Error if an input is missing.
void plan(const PlanArguments& arguments, std::ostream& out);

struct TokenizeArguments {
  std::filesystem::path model = {};  // Hugging Face directory with tokenizer.json
  std::filesystem::path input = {};  // empty or "-": standard input
  bool decode = false;               // ids to text
  bool json = false;                 // lines are JSON strings
  bool add_special_tokens = false;   // apply the tokenizer's post-processor
  bool skip_special_tokens = false;  // with decode: omit special tokens from the text
};

/// Writes one line to `out` for each line of input: the ids of a text as a JSON list, or with
/// `decode` the text of a JSON list of ids as a JSON string. A line ends at "\n". With `json` a
/// line is a JSON string, whose text may contain line ends. Invalid UTF-8 is read as U+FFFD. Throws
/// Error naming the malformed line.
void tokenize(const TokenizeArguments& arguments, std::ostream& out);

struct ScoreArguments {
  ModelOptions model = {};
  std::filesystem::path input = {};  // JSONL of prompts and responses; "-": standard input
  double temperature = 1;            // above 0
  bool add_special_tokens = false;
  std::vector<std::string> overrides = {};  // key=value of data.*: how rows become prompts
  bool entropies = false;                   // write the entropies, too
  std::int64_t batch_tokens = 2048;         // tokens of one forward pass, at least one row
};

/// Writes each row with "log_probs" added (one for each response token, in nats, of logits /
/// temperature) and, if it had texts, their ids. The numbers depend neither on other rows nor on
/// batch_tokens and threads. Throws Error before anything is computed if a row is invalid.
void score(const ScoreArguments& arguments, std::ostream& out);

struct GenerateArguments {
  ModelOptions model = {};
  std::filesystem::path input = {};  // JSONL of prompts; "-": standard input
  /// If max_response_tokens is 0, it becomes 256, or the positions that the longest prompt leaves
  /// if these are fewer.
  SamplingOptions sampling{.temperature = 1, .max_response_tokens = 0};
  std::int64_t samples = 1;  // responses to each prompt
  std::int64_t seed = 1;
  std::int64_t slots = 64;  // responses in flight
  std::int64_t cache_mebibytes = 4096;
  bool add_special_tokens = false;
  std::vector<std::string> overrides = {};  // key=value of data.*: how rows become prompts
  bool ignore_end = false;                  // continue after an end-of-sequence token
};

/// Writes each row once for each response, in order, with these fields added: "response",
/// "response_ids" (end of sequence included), "log_probs", "finish" ("end_of_sequence" or "length")
/// and, for several samples, "sample". A response depends only on weights, prompt, row number,
/// sample number, sampling options and seed. Throws Error before anything is computed if a row is
/// invalid.
void generate(const GenerateArguments& arguments, std::ostream& out);

}  // namespace lie
