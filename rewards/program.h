// A reward term or a verifier that is the user's own program: one request a response as a line of
// JSON on its standard input, one answer a line on its standard output, in the same order.
// docs/reference/reward-programs.md describes the protocol for those who write one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/config/options.h"
#include "common/io/json_lines.h"
#include "common/process/log.h"
#include "common/rollout/rollout.h"
#include "rewards/child_process.h"

namespace lie {

/// The verifier's program, in the config section of the built-in verifier's options.
struct VerifierProgramOptions {
  std::string command;
};
void describe(FieldList& fields, VerifierProgramOptions& options);

/// What a program is asked about one response.
struct ProgramRequest {
  const Ticket& ticket;
  const Response& response;
  std::size_t sample = 0;        // number of the response in its group
  std::string_view text;         // what it decodes to
  const Score* score = nullptr;  // of the built-in verifier; null: not judged yet
};

struct ProgramAnswer {
  float reward = 0;
  std::optional<bool> correct;
  std::string answer;                // as found in the response
  std::vector<NamedNumber> numbers;  // further ones, by their names in the log
};

/// Who runs the program: what its lines on the terminal begin with, and what must be kept moving
/// while it is waited for.
struct ProgramHost {
  int rank = 0;
  std::function<void()> poll_progress = {};  // may throw: then the wait is over
  double patience_seconds = 60;              // between warnings; decides nothing
};

/// A running program. Requests are sent ahead of the answers, so that it stays busy while the
/// caller does other work. One thread.
class RewardProgram {
 public:
  enum class Kind : std::uint8_t { kReward, kVerifier };  // must answer: reward, or correct

  /// Starts `command` (rewards/child_process.h). Throws Error if it cannot.
  RewardProgram(Kind kind, const std::string& command, ProgramHost host);

  /// Sends a request. Never blocks.
  void ask(const ProgramRequest& request);
  /// The answer to the oldest request that has none yet. Waits, attending. Throws Error, with the
  /// program's last words, if it ends, or answers malformed or out of turn.
  ProgramAnswer answer();
  /// Closes its standard input and waits, attending, until it has ended.
  void finish();

 private:
  struct Asked {
    std::int64_t id = 0, step = 0, problem = 0;
    std::size_t sample = 0;
  };
  void wait();
  void hear_complaints();
  void say_what_is_waited_for() const;
  ProgramAnswer parse(const std::string& line);
  void take_number(const JsonRow& row, const std::string& name, ProgramAnswer& answer);
  std::string name_of(const Asked& asked) const;
  std::string how_it_ended();
  [[noreturn]] void fail_program(const std::string& why);
  [[noreturn]] void fail_answer(const std::string& line, const std::string& why);

  Kind kind_;
  std::string key_;  // of the config
  std::string command_;
  ProgramHost host_;
  Log log_;
  ChildProcess process_;
  std::deque<Asked> asked_;  // and not answered
  std::int64_t next_id_ = 0;
  std::deque<std::string> last_words_;
  std::set<std::string> names_;  // of all numbers so far
};

}  // namespace lie
