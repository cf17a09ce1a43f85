// Runs a user's program as reward term or verifier. The program reads one request per response as a
// line of JSON on standard input. It writes one answer per line on standard output, in the same
// order. docs/reference/reward-programs.md describes the protocol.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/config/options.h"
#include "common/io/json_lines.h"
#include "common/process/log.h"
#include "common/rollout/rollout.h"
#include "rewards/child_process.h"

namespace lie {

/// The verifier program. Its key is in the config section of the built-in verifier.
struct VerifierProgramOptions {
  std::string command;
  double command_time_limit_seconds = 0;  // see ProgramHost
};
void describe(FieldList& fields, VerifierProgramOptions& options);

/// Throws Error if the command of this key holds kSecretMask in place of a secret, as a config.yaml
/// does.
void check_command(std::string_view key, std::string_view command);

/// Adds command_time_limit_seconds to the section of a command.
void add_command_time_limit(FieldList& fields, double& seconds);

struct ProgramRequest {
  const Ticket& ticket;
  const Response& response;
  std::size_t sample = 0;        // number of the response in its group
  std::string_view text;         // the decoded response
  const Score* score = nullptr;  // verdict so far; null: not verified yet
};

struct ProgramAnswer {
  float reward = 0;
  std::optional<bool> correct;
  std::string answer;                // the answer that was extracted from the response
  std::vector<NamedNumber> numbers;  // additional numbers, by their names in the log
};

/// The process that runs the program. `rank` labels the program's lines on the terminal.
struct ProgramHost {
  int rank = 0;
  std::function<void()> poll_progress = {};  // called while waiting; may throw to end the wait
  double patience_seconds = 60;              // time between warnings; affects no result
  double time_limit_seconds = 0;  // without an answer, before the run ends with an error; 0: none
};

/// A running program. Requests are sent ahead of the answers, so that the program stays busy while
/// the caller does other work. Not thread-safe.
class RewardProgram {
 public:
  /// The field that an answer must have: `reward` or `correct`.
  enum class Kind : std::uint8_t { kReward, kVerifier };

  /// Starts `command` (rewards/child_process.h). Throws Error if it cannot.
  RewardProgram(Kind kind, const std::string& command, ProgramHost host);

  /// Sends a request. Never blocks.
  void send(const ProgramRequest& request);
  /// Returns the answer to the oldest pending request. Blocks and polls progress meanwhile. Throws
  /// Error, with the program's last lines on standard error, if the program ends, if the answer is
  /// malformed or out of order, or after the time limit. No answer is ever made up.
  ProgramAnswer receive();
  /// Closes the program's standard input. Blocks, polling progress, until the program has ended. It
  /// is killed after the time limit, or at a signal to stop, since all answers have come.
  void finish();

 private:
  struct PendingRequest {
    std::int64_t id = 0, step = 0, problem = 0;
    std::size_t sample = 0;
  };
  void wait();
  void await_exit();
  void check_patience(double seconds);
  void log_standard_error();
  void log_line(const std::string& line);
  void log_number_omitted();
  ProgramAnswer parse(const std::string& line);
  void add_number(const JsonRow& row, const std::string& name, ProgramAnswer& answer);
  std::string name_of(const PendingRequest& request) const;
  std::string how_it_ended();
  [[noreturn]] void fail_program(const std::string& why);
  [[noreturn]] void fail_answer(const std::string& line, const std::string& why);

  Kind kind_;
  std::string key_;  // config key of the command
  std::string command_;
  ProgramHost host_;
  Log log_;
  ChildProcess process_;
  std::deque<PendingRequest> pending_;
  std::int64_t next_id_ = 0;
  std::deque<std::string> last_lines_;  // the program's last lines on standard error
  std::set<std::string> names_;         // names of all numbers so far
  Stopwatch log_minute_;                // since the last minute of logged lines began
  std::size_t logged_bytes_ = 0;        // of standard error in this minute
  std::int64_t omitted_lines_ = 0;      // in this minute
  double next_warning_seconds_ = 0;     // of the present wait
  bool has_announced_stop_ = false;
};

}  // namespace lie
