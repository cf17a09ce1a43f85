#include "model/tokenizer/bpe.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>

#include "common/base/error.h"
#include "model/tokenizer/byte_map.h"

namespace lie {
namespace {

constexpr std::size_t kShortWord = 32;  // tokens up to which a scan is faster than a queue
constexpr std::uint32_t kNoRank = ~std::uint32_t{0};
constexpr std::int32_t kMerged = -1;

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

using Vocabulary = std::unordered_map<std::string_view, std::int32_t>;

std::int32_t id_of(const Vocabulary& vocabulary, const std::string& token, const BpeSpec& spec) {
  const auto found = vocabulary.find(token);
  if (found == vocabulary.end())
    fail("{}: a merge needs token \"{}\", which is not in \"vocab\"", spec.file, token);
  return found->second;
}

/// Returns the ids of a character's bytes as tokens such as "<0xC4>", none if one is missing.
std::vector<std::int32_t> fallback_of(const std::string& character, const Vocabulary& vocabulary) {
  std::vector<std::int32_t> ids;
  for (const char c : character) {
    const auto found = vocabulary.find(fmt::format("<0x{:02X}>", static_cast<unsigned char>(c)));
    if (found == vocabulary.end()) return {};
    ids.push_back(found->second);
  }
  return ids;
}

}  // namespace

Bpe::Bpe(const BpeSpec& spec)
    : fuses_unknown_(spec.fuse_unknown), ignores_merges_(spec.ignore_merges) {
  Vocabulary vocabulary;
  vocabulary.reserve(spec.vocabulary.size());
  for (const auto& [token, id] : spec.vocabulary) {
    if (!vocabulary.emplace(token, id).second) {
      fail("{}: token \"{}\" appears twice in \"vocab\"; delete one", spec.file, token);
    }
  }

  const ByteMap byte_map;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string character = byte_map.character(static_cast<std::uint8_t>(byte));
    const auto found = vocabulary.find(character);
    byte_ids_[byte] = found == vocabulary.end() ? -1 : found->second;
    if (spec.byte_fallback && found == vocabulary.end()) {
      fallback_ids_[static_cast<std::size_t>(byte)] = fallback_of(character, vocabulary);
    }
  }
  if (spec.unknown_token) {
    const auto found = vocabulary.find(*spec.unknown_token);
    if (found == vocabulary.end()) {
      fail("{}: \"unk_token\" \"{}\" is not in \"vocab\"", spec.file, *spec.unknown_token);
    }
    unknown_id_ = found->second;
  }
  merges_.resize(std::bit_ceil(spec.merges.size() * 3 + 4));
  for (std::size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto& [left, right] = spec.merges[rank];
    add_merge({.pair = pair_of(id_of(vocabulary, left, spec), id_of(vocabulary, right, spec)),
               .rank = static_cast<std::uint32_t>(rank),
               .joined = id_of(vocabulary, left + right, spec)});
  }
  if (!ignores_merges_) return;
  for (const auto& [token, id] : spec.vocabulary) {
    if (const auto bytes = byte_map.bytes(token)) word_ids_[*bytes] = id;
  }
}

std::size_t Bpe::slot(std::uint64_t pair) const {
  std::uint64_t hash = pair * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 32;
  return hash & (merges_.size() - 1);
}

void Bpe::add_merge(const Merge& merge) {
  std::size_t i = slot(merge.pair);
  while (merges_[i].pair != kNoPair && merges_[i].pair != merge.pair)
    i = (i + 1) & (merges_.size() - 1);
  merges_[i] = merge;  // the last of equal pairs has precedence, as in the tokenizers library
}

const Bpe::Merge* Bpe::find(std::int32_t left, std::int32_t right) const {
  const std::uint64_t pair = pair_of(left, right);
  for (std::size_t i = slot(pair); merges_[i].pair != kNoPair; i = (i + 1) & (merges_.size() - 1)) {
    if (merges_[i].pair == pair) return &merges_[i];
  }
  return nullptr;
}

void Bpe::encode(std::string_view word, std::vector<std::int32_t>& out) const {
  if (ignores_merges_) {
    const auto found = word_ids_.find(std::string(word));
    if (found != word_ids_.end()) return out.push_back(found->second);
  }
  std::vector<std::int32_t> symbols = symbols_of(word);
  symbols.size() <= kShortWord ? merge_short(symbols) : merge_long(symbols);
  out.insert(out.end(), symbols.begin(), symbols.end());
}

/// The tokenizers library holds an unknown token back until the next known or unknown one. Tokens
/// of byte fallback in between come before it.
std::vector<std::int32_t> Bpe::symbols_of(std::string_view word) const {
  std::vector<std::int32_t> symbols;
  symbols.reserve(word.size());
  bool holds_unknown = false;
  for (const char c : word) {
    const std::int32_t id = byte_ids_[static_cast<unsigned char>(c)];
    const auto& fallback = fallback_ids_[static_cast<unsigned char>(c)];
    if (id < 0 && !fallback.empty()) {
      symbols.insert(symbols.end(), fallback.begin(), fallback.end());
      continue;
    }
    if (holds_unknown && (id >= 0 || !fuses_unknown_)) symbols.push_back(unknown_id_);
    if (id >= 0) symbols.push_back(id);
    holds_unknown = id < 0 && unknown_id_ >= 0;
  }
  if (holds_unknown) symbols.push_back(unknown_id_);
  return symbols;
}

/// Stores the rank of each pair of adjacent tokens and scans for the lowest rank. Each merge closes
/// the gap in the arrays.
void Bpe::merge_short(std::vector<std::int32_t>& symbols) const {
  std::uint32_t ranks[kShortWord];
  std::int32_t joined[kShortWord];
  std::size_t count = symbols.size();
  const auto look_up = [&](std::size_t i) {
    const Merge* merge = i + 1 < count ? find(symbols[i], symbols[i + 1]) : nullptr;
    ranks[i] = merge == nullptr ? kNoRank : merge->rank;
    joined[i] = merge == nullptr ? kMerged : merge->joined;
  };
  for (std::size_t i = 0; i < count; ++i) look_up(i);
  while (count > 1) {
    const std::size_t best =
        static_cast<std::size_t>(std::min_element(ranks, ranks + count - 1) - ranks);
    if (ranks[best] == kNoRank) break;
    symbols[best] = joined[best];
    std::copy(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 2,
              symbols.begin() + static_cast<std::ptrdiff_t>(count),
              symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    std::copy(ranks + best + 2, ranks + count, ranks + best + 1);
    std::copy(joined + best + 2, joined + count, joined + best + 1);
    --count;
    look_up(best);
    if (best > 0) look_up(best - 1);
  }
  symbols.resize(count);
}

/// Uses a priority queue of merges by (rank, position) over a linked list of tokens. A queue entry
/// is outdated if its pair no longer merges into the same token.
void Bpe::merge_long(std::vector<std::int32_t>& symbols) const {
  const std::size_t count = symbols.size();
  if (count >= kNoRank)
    fail("a word of {} bytes is too long to tokenize (limit {})", count, kNoRank);
  std::vector<std::uint32_t> next(count);
  std::vector<std::uint32_t> previous(count);
  struct Candidate {
    std::uint64_t order;  // rank << 32 | position
    std::int32_t joined;
    bool operator>(const Candidate& other) const { return order > other.order; }
  };
  std::vector<Candidate> candidates;
  const auto candidate = [&](std::size_t i) -> const Merge* {
    return next[i] < count ? find(symbols[i], symbols[next[i]]) : nullptr;
  };
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = static_cast<std::uint32_t>(i + 1);
    previous[i] = static_cast<std::uint32_t>(i - 1);  // wraps to kNoRank for the first
    if (const Merge* merge = candidate(i)) {
      candidates.push_back({static_cast<std::uint64_t>(merge->rank) << 32 | i, merge->joined});
    }
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(
      {}, std::move(candidates));
  const auto offer = [&](std::size_t i) {
    if (const Merge* merge = candidate(i)) {
      queue.push({static_cast<std::uint64_t>(merge->rank) << 32 | i, merge->joined});
    }
  };
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    const std::size_t left = static_cast<std::uint32_t>(top.order);
    if (symbols[left] == kMerged) continue;
    const Merge* merge = candidate(left);
    if (merge == nullptr || merge->joined != top.joined) continue;
    const std::size_t right = next[left];
    symbols[left] = top.joined;
    symbols[right] = kMerged;
    next[left] = next[right];
    if (next[left] < count) previous[next[left]] = static_cast<std::uint32_t>(left);
    if (previous[left] != kNoRank) offer(previous[left]);
    offer(left);
  }
  std::erase(symbols, kMerged);
}

}  // namespace lie
