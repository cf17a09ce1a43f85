// A child process whose standard input, output and error are pipes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/io/descriptor.h"

namespace lie {

/// Reads a pipe line by line without blocking. A last line without a newline counts as a line.
class LineReader {
 public:
  explicit LineReader(Descriptor pipe) : pipe_(std::move(pipe)) {}
  /// Reads what is available. Never blocks: the descriptor must be non-blocking.
  void read();
  /// Returns the next complete line without its newline, if there is one.
  std::optional<std::string> line();
  /// Returns whether the other side has closed the pipe. Unread lines may remain.
  bool ended() const { return !pipe_.is_open(); }
  int descriptor() const { return pipe_.number(); }
  /// Returns the number of bytes that were read but not yet returned.
  std::size_t bytes() const { return text_.size(); }

 private:
  Descriptor pipe_;
  std::string text_;
  std::size_t searched_ = 0;  // no newline is before this byte
};

/// A process group with a guard process as its leader. All processes of the group are killed when
/// the object is destroyed, and also when this process dies, however it dies.
class GuardedGroup {
 public:
  /// Starts the guard. Throws Error if it cannot.
  GuardedGroup();
  ~GuardedGroup();
  GuardedGroup(const GuardedGroup&) = delete;
  GuardedGroup& operator=(const GuardedGroup&) = delete;

  pid_t id() const { return guard_; }

 private:
  pid_t guard_ = -1;
  Descriptor alive_;  // only this process holds it; the guard acts when it is closed
};

/// Runs `/bin/sh -c "exec COMMAND"`: one program with its arguments. The shell expands variables,
/// quotes and redirections, then becomes the program. The pipes never block the caller, whatever
/// the program does. What the program starts stays in its process group and ends with this object.
/// Not thread-safe.
class ChildProcess {
 public:
  /// Throws Error if no process can be started. A command that does not exist ends at once.
  explicit ChildProcess(const std::string& command);
  /// Kills the program, if it still runs, and all processes of its group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Writes to the standard input. Bytes beyond the pipe's capacity are kept in memory for pump().
  void write(std::string_view bytes);
  /// Closes the standard input after all pending bytes are written.
  void close_input() { closing_ = true; }

  /// Transfers bytes in all pipes. If none is ready, waits up to `milliseconds` for one.
  void pump(int milliseconds);

  LineReader& output() { return output_; }
  LineReader& errors() { return errors_; }  // standard error

  /// Returns how the program ended ("exited with status 1"). Empty while it runs. Never blocks.
  std::optional<std::string> ended();
  bool ended_well() const { return reaped_ && status_ == 0; }
  /// Kills the program unless it has ended, and reads its last lines. Returns how it ended.
  std::string kill();

 private:
  void flush();

  GuardedGroup group_;
  pid_t process_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  bool closing_ = false;
  Descriptor input_;
  std::string waiting_;   // pending bytes for its input
  std::size_t sent_ = 0;  // number of pending bytes already written
  LineReader output_, errors_;
};

}  // namespace lie
