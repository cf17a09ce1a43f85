#include "common/io/descriptor.h"

#include <unistd.h>

#include <utility>

namespace lie {

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

int Descriptor::close() { return is_open() ? ::close(std::exchange(number_, -1)) : 0; }

}  // namespace lie
