#include "common/text/units.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "common/base/error.h"

namespace lie {

namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;

enum ByteClass : std::uint8_t { kLetter, kSpace, kUnderscore, kMaybeSpace };

/// The class of each byte: ASCII white space, the underscore, bytes that may begin other white
/// space in UTF-8, and letters for all the rest.
constexpr std::array<ByteClass, 256> kClasses = [] {
  std::array<ByteClass, 256> classes = {};
  for (std::size_t c = 9; c <= 13; ++c) classes[c] = kSpace;
  for (std::size_t c = 28; c <= 32; ++c) classes[c] = kSpace;
  classes['_'] = kUnderscore;
  for (const std::size_t c : {0xC2, 0xE1, 0xE2, 0xE3}) classes[c] = kMaybeSpace;
  return classes;
}();

ByteClass class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }

std::uint32_t byte_at(const char* at) { return static_cast<unsigned char>(*at); }

/// Returns the length in bytes of the white space at `at`, whose first byte is kMaybeSpace. 0: it
/// is not white space.
std::size_t wide_space(const char* at, const char* end) {
  const std::uint32_t lead = byte_at(at);
  if (lead == 0xC2) {  // U+0085, U+00A0
    return end - at >= 2 && (byte_at(at + 1) == 0x85 || byte_at(at + 1) == 0xA0) ? 2 : 0;
  }
  if (end - at < 3) return 0;
  const std::uint32_t rest = byte_at(at + 1) << 8 | byte_at(at + 2);
  const bool is_space = (lead == 0xE1 && rest == 0x9A80) ||                      // U+1680
                        (lead == 0xE2 && ((rest >= 0x8080 && rest <= 0x808A) ||  // U+2000-200A
                                          rest == 0x80A8 || rest == 0x80A9 ||    // U+2028, U+2029
                                          rest == 0x80AF || rest == 0x819F)) ||  // U+202F, U+205F
                        (lead == 0xE3 && rest == 0x8080);                        // U+3000
  return is_space ? 3 : 0;
}

constexpr std::uint64_t kEachByte = 0x0101010101010101u;

/// Returns the first byte from `at` on that may not be a letter. Skips ASCII letters eight at a
/// time.
const char* skip_letters(const char* at, const char* end) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kHigh = 0x80 * kEachByte;
  for (; end - at >= 8; at += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, at, 8);
    const std::uint64_t underscores = bytes ^ ('_' * kEachByte);
    // The top bit of each byte is set for values above 127, values below 33, and underscores. Bytes
    // after the first set one may be inexact.
    const std::uint64_t stops = (bytes & kHigh) | ((bytes - 33 * kEachByte) & ~bytes & kHigh) |
                                ((underscores - kEachByte) & ~underscores & kHigh);
    if (stops != 0) return at + std::countr_zero(stops) / 8;
  }
  while (at != end && class_of(*at) == kLetter) ++at;
  return at;
}

/// Calls take(word) for every word of `text`.
template <typename Take>
void for_each_word(std::string_view text, Take&& take) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const char* begin = at;
  bool in_piece = false;  // within a run of letters and underscores
  while (at != end) {
    const ByteClass kind = class_of(*at);
    const std::size_t wide = kind == kMaybeSpace ? wide_space(at, end) : 0;
    if (kind == kLetter || (kind == kMaybeSpace && wide == 0)) {
      in_piece = true;
      at = skip_letters(at + 1, end);
    } else if (kind == kUnderscore) {
      take(std::string_view(begin, static_cast<std::size_t>(at - begin)));
      in_piece = true;  // the part after the underscore is a word, even an empty one
      begin = ++at;
    } else {
      if (in_piece) take(std::string_view(begin, static_cast<std::size_t>(at - begin)));
      in_piece = false;
      begin = at += kind == kSpace ? 1 : wide;
    }
  }
  if (in_piece) take(std::string_view(begin, static_cast<std::size_t>(at - begin)));
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Returns the first min(`wanted`, 8) bytes at `at` as a number. Only `readable` bytes may be read.
std::uint64_t load(const char* at, std::size_t wanted, std::size_t readable) {
  std::uint64_t value = 0;
  if (readable >= 8) {
    std::memcpy(&value, at, 8);
    return wanted >= 8 ? value : value & ((std::uint64_t{1} << (8 * wanted)) - 1);
  }
  std::memcpy(&value, at, std::min(wanted, readable));
  return value;
}

constexpr std::uint64_t kSecret = 0xD6E8FEB86659FD93u;
constexpr std::uint64_t kOtherSecret = 0x082EFA98EC4E6C89u;

/// Hashes a word. `head`: its first bytes. `readable`: bytes from its start to the end of the text.
std::uint64_t hash_of(std::string_view word, std::uint64_t head, std::size_t readable,
                      std::uint64_t secret) {
  constexpr std::uint64_t kStart = 0x9E3779B97F4A7C15u;
  std::uint64_t hash = mixed(kStart ^ head, secret ^ (std::uint64_t{word.size()} << 1));
  for (std::size_t i = 8; i < word.size(); i += 8) {
    hash = mixed(hash ^ load(word.data() + i, word.size() - i, readable - i), secret);
  }
  return hash;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  for_each_word(text, [&](std::string_view word) { words.push_back(word); });
  return words;
}

void append_unit_hashes(std::span<const std::int32_t> ids, std::vector<UnitHash>& hashes) {
  for (const std::int32_t id : ids) {
    const std::uint64_t value = static_cast<std::uint32_t>(id);
    hashes.push_back({value, value});
  }
}

void append_unit_hashes(std::string_view text, std::vector<UnitHash>& hashes) {
  const char* const end = text.data() + text.size();
  for_each_word(text, [&](std::string_view word) {
    const auto readable = static_cast<std::size_t>(end - word.data());
    const std::uint64_t head = load(word.data(), word.size(), readable);
    hashes.push_back({hash_of(word, head, readable, kSecret) % kPrime,
                      hash_of(word, head, readable, kOtherSecret) % kPrime});
  });
}

namespace {

using Wide = unsigned __int128;

/// Returns x mod kPrime. Requires x below 2^124.
std::uint64_t residue(Wide x) {
  const auto sum = static_cast<std::uint64_t>(x & kPrime) + static_cast<std::uint64_t>(x >> 61);
  const std::uint64_t folded = (sum & kPrime) + (sum >> 61);
  return folded >= kPrime ? folded - kPrime : folded;
}

/// The rolling polynomial of the last n units at one point.
class Rolling {
 public:
  Rolling(std::uint64_t point, std::size_t n) : point_(point) {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < n; ++i) power = residue(Wide{power} * point);
    minus_power_ = kPrime - power;
  }

  std::uint64_t next(std::uint64_t entering, std::uint64_t leaving) {
    return value_ = residue(Wide{value_} * point_ + Wide{leaving} * minus_power_ + entering);
  }

 private:
  std::uint64_t point_, minus_power_;  // -(point^n)
  std::uint64_t value_ = 0;
};

/// Applies the 64-bit finalizer of MurmurHash3, a bijection.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdu;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53u;
  return x ^ (x >> 33);
}

// Arbitrary constants: binary digits of pi.
constexpr std::uint64_t kFirstPoint = 0x243F6A8885A308D3u >> 3;
constexpr std::uint64_t kSecondPoint = 0x13198A2E03707344u >> 3;
constexpr std::uint64_t kHighOffset = 0x452821E638D01377u, kLowOffset = 0xBE5466CF34E90C6Cu;

/// Mixes the two sums. The map is a bijection, because the product of the factors is even, except
/// that a `low` of 0 becomes 1. The offsets keep n-grams of zeros away from the finalizer's fixed
/// point.
StateKey key_of(std::uint64_t first, std::uint64_t second) {
  const std::uint64_t high = mixed(second * 0xC2B2AE3D27D4EB4Fu + first + kHighOffset);
  const std::uint64_t low = mixed(first * 0x9E3779B97F4A7C16u + second + kLowOffset);
  return {high, low == 0 ? 1 : low};
}

}  // namespace

void ngram_keys(std::span<const UnitHash> units, std::int64_t n, std::vector<StateKey>& keys) {
  if (n < 1) fail("n-grams of {} units; expected at least 1", n);
  keys.clear();
  const auto length = static_cast<std::size_t>(n);
  if (units.size() < length) return;
  keys.reserve(units.size() - length + 1);
  Rolling first(kFirstPoint, length), second(kSecondPoint, length);
  for (std::size_t i = 0; i + 1 < length; ++i) {
    first.next(units[i].first, 0), second.next(units[i].second, 0);
  }
  for (std::size_t i = length - 1; i < units.size(); ++i) {
    const UnitHash leaving = i >= length ? units[i - length] : UnitHash();
    keys.push_back(key_of(first.next(units[i].first, leaving.first),
                          second.next(units[i].second, leaving.second)));
  }
}

}  // namespace lie
