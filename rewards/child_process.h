// A child process behind three pipes: standard input, output and error.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/io/descriptor.h"

namespace lie {

/// The lines of a pipe, as they come. A last line without a newline counts.
class LineReader {
 public:
  explicit LineReader(Descriptor pipe) : pipe_(std::move(pipe)) {}
  /// Reads what is available. Never blocks: the descriptor must be non-blocking.
  void read();
  /// The next whole line, without its newline.
  std::optional<std::string> line();
  /// Whether the other side has closed the pipe; unread lines may remain.
  bool ended() const { return !pipe_.is_open(); }
  int descriptor() const { return pipe_.number(); }
  /// Bytes read but not yet returned.
  std::size_t bytes() const { return text_.size() - at_; }

 private:
  Descriptor pipe_;
  std::string text_;
  std::size_t at_ = 0;        // bytes before it have been returned
  std::size_t searched_ = 0;  // no newline before
};

/// `/bin/sh -c "exec COMMAND"`: one program with its arguments; the shell expands variables, quotes
/// and redirections, then becomes the program. Its pipes never block the caller, whatever the
/// program does with them. One thread.
class ChildProcess {
 public:
  /// Throws Error if no process can be started. A command that does not exist ends at once.
  explicit ChildProcess(const std::string& command);
  /// Kills the program if it is still there.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Writes to its standard input; bytes that the pipe cannot take wait in memory for pump().
  void write(std::string_view bytes);
  /// Closes its standard input once all pending bytes are written.
  void close_input() { closing_ = true; }

  /// Moves bytes in all pipes; where none can be moved, waits for one up to `milliseconds`.
  void pump(int milliseconds);

  LineReader& output() { return output_; }
  LineReader& complaints() { return complaints_; }

  /// How it ended, in words ("exited with status 1"); nothing while it runs. Never blocks.
  std::optional<std::string> ended();
  /// Whether it exited with status 0.
  bool ended_well() const { return reaped_ && status_ == 0; }
  /// Kills it unless it has ended, and reads its last lines. Returns how it ended.
  std::string kill();

 private:
  void flush();

  pid_t process_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  bool closing_ = false;
  Descriptor input_;
  std::string waiting_;   // bytes for its input
  std::size_t sent_ = 0;  // of them
  LineReader output_, complaints_;
};

}  // namespace lie
