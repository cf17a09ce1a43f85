// The transport as a role sees it: sources and sinks of values.
#pragma once

#include <optional>

namespace lie {

/// A stream that a role receives values from. One thread per source.
template <typename T>
class Source {
 public:
  virtual ~Source() = default;
  /// Returns the next value, and blocks until it arrives. Empty after the other side has closed the
  /// stream. Throws Error when the job is ending because another rank failed.
  virtual std::optional<T> receive() = 0;
};

/// A source that can be polled without blocking, for roles with several event sources.
template <typename T>
class PollableSource : public Source<T> {
 public:
  /// Returns the next value if one has arrived. Never blocks.
  virtual std::optional<T> try_receive() = 0;
};

/// A stream that a role sends values to. One thread per sink.
template <typename T>
class Sink {
 public:
  virtual ~Sink() = default;
  /// Sends the value. Blocks only while the stream's buffer is full.
  virtual void send(T value) = 0;
  /// Ends the stream: no more values will be sent.
  virtual void close() = 0;
};

}  // namespace lie
