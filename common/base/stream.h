// What a role sees of the transport: where values come from and where they go.
#pragma once

#include <optional>

namespace lie {

/// Where a role takes values from. One thread per source.
template <typename T>
class Source {
 public:
  virtual ~Source() = default;
  /// The next value; blocks. Empty when the other side has closed the stream. Throws Error when
  /// the job is ending because another rank failed.
  virtual std::optional<T> receive() = 0;
};

/// A source that can be asked without waiting, for roles that attend to several things.
template <typename T>
class PollableSource : public Source<T> {
 public:
  /// The next value if one is there; never blocks.
  virtual std::optional<T> try_receive() = 0;
};

/// Where a role puts values. One thread per sink.
template <typename T>
class Sink {
 public:
  virtual ~Sink() = default;
  /// Hands the value over; blocks only while the other side is too far behind.
  virtual void send(T value) = 0;
  /// No more values will come.
  virtual void close() = 0;
};

}  // namespace lie
