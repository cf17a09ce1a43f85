// An owned file descriptor of a file, pipe, socket or event.
#pragma once

namespace lie {

/// Owns a file descriptor and closes it on destruction. Move-only.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Closes the descriptor and returns the result of close(2). Returns 0 if nothing is open.
  int close();

 private:
  int number_ = -1;
};

}  // namespace lie
