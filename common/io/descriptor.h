// A file descriptor with an owner: of a file, a pipe, a socket, an event.
#pragma once

namespace lie {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// What close(2) returns; 0 where nothing is open.
  int close();

 private:
  int number_ = -1;
};

}  // namespace lie
