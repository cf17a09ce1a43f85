#include "common/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/sha256_blocks.h"

namespace lie {
namespace {

std::uint32_t load_big_endian(const std::byte* bytes) {
  return std::to_integer<std::uint32_t>(bytes[0]) << 24 |
         std::to_integer<std::uint32_t>(bytes[1]) << 16 |
         std::to_integer<std::uint32_t>(bytes[2]) << 8 | std::to_integer<std::uint32_t>(bytes[3]);
}

/// The 64 words that a block is stretched to.
std::array<std::uint32_t, 64> schedule(const std::byte* block) {
  std::array<std::uint32_t, 64> w = {};
  for (std::size_t t = 0; t < 16; ++t) w[t] = load_big_endian(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  return w;
}

void take_block(std::uint32_t* state, const std::byte* block) {
  const auto w = schedule(block);
  std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Round[t] + w[t];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> step = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += step[i];
}

/// The fastest version that this CPU supports.
Sha256Blocks take_blocks() {
  static const Sha256Blocks x86 = x86_sha256_blocks();
  return x86 != nullptr ? x86 : portable_sha256_blocks;
}

}  // namespace

void portable_sha256_blocks(std::uint32_t* state, const std::byte* data, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks; ++i) take_block(state, data + 64 * i);
}

void Sha256::update(std::span<const std::byte> bytes) {
  const std::size_t held = length_bytes_ % 64;
  length_bytes_ += bytes.size();
  if (held > 0) {
    const std::size_t take = std::min(64 - held, bytes.size());
    std::copy_n(bytes.begin(), take, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(take);
    if (held + take < 64) return;
    take_blocks()(state_.data(), pending_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / 64;
  take_blocks()(state_.data(), bytes.data(), blocks);
  std::ranges::copy(bytes.subspan(64 * blocks), pending_.begin());
}

std::string Sha256::hex_digest() {
  const std::uint64_t bits = length_bytes_ * 8;
  std::array<std::byte, 72> tail = {};  // 0x80, zeros up to 56 mod 64, then the length in bits
  tail[0] = std::byte{0x80};
  const std::size_t zeros = (119 - length_bytes_ % 64) % 64;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  }
  update(std::span(tail).first(1 + zeros + 8));
  std::string hex;
  for (const std::uint32_t word : state_) hex += fmt::format("{:08x}", word);
  return hex;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex_digest();
}

}  // namespace lie
