#include "model/tokenizer/tokenizer.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "common/base/error.h"
#include "model/tokenizer/added_tokens.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/byte_map.h"
#include "model/tokenizer/pre_tokenizer.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/tokenizer_json.h"
#include "model/tokenizer/unicode.h"
#include "model/tokenizer/word_cache.h"

namespace lie {
namespace {

struct Entry {
  std::string bytes;
  bool exists = false, special = false;
};

/// Returns the bytes that the token's characters represent. A token with any other character is
/// returned unchanged.
std::string decoded_bytes(const std::string& token, const ByteMap& byte_map) {
  return byte_map.bytes(token).value_or(token);
}

std::vector<AddedToken> select(const std::vector<AddedToken>& tokens, bool normalized) {
  std::vector<AddedToken> selected;
  for (const AddedToken& token : tokens) {
    if (token.normalized == normalized) selected.push_back(token);
  }
  return selected;
}

}  // namespace

struct Tokenizer::State {
  explicit State(TokenizerSpec read)
      : spec(std::move(read)),
        raw_finder(select(spec.added_tokens, false), table),
        normalized_finder(select(spec.added_tokens, true), table),
        pre_tokenizer(spec.pre_tokenizer, table),
        bpe(spec.bpe) {
    for (const auto& [token, id] : spec.bpe.vocabulary) add_entry(token, token, id, false);
    for (const AddedToken& token : spec.added_tokens)
      add_entry(token.content, token.pattern, token.id, token.special);
    spec.bpe = {};  // its content is in `bpe`, `ids` and `entries`
  }

  void add_entry(const std::string& name, const std::string& decodes_as, std::int32_t id,
                 bool special) {
    const auto i = static_cast<std::size_t>(id);
    if (entries.size() <= i) entries.resize(i + 1);
    entries[i] = {decoded_bytes(decodes_as, byte_map), true, special};
    ids.insert_or_assign(name, id);
  }

  void encode_piece(std::string_view piece, WordCache* cache, std::vector<std::int32_t>& out) const;
  void encode_normalized(std::string_view text, WordCache* cache,
                         std::vector<std::int32_t>& out) const;
  void encode_text(std::string_view text, WordCache* cache, std::vector<std::int32_t>& out) const;
  std::string text_of(std::span<const std::int32_t> tokens, const auto& is_kept) const;

  TokenizerSpec spec;
  UnicodeTable table;
  ByteMap byte_map;
  AddedTokenFinder raw_finder;         // searches the original text
  AddedTokenFinder normalized_finder;  // searches the normalized text
  PreTokenizer pre_tokenizer;
  Bpe bpe;
  std::vector<Entry> entries;  // by id
  std::unordered_map<std::string, std::int32_t> ids;
  std::mutex cache_mutex;  // a thread that cannot lock it at once encodes without the cache
  WordCache word_cache;
};

void Tokenizer::State::encode_piece(std::string_view piece, WordCache* cache,
                                    std::vector<std::int32_t>& out) const {
  pre_tokenizer.split(piece, [&](std::string_view word) {
    if (cache == nullptr || word.size() > WordCache::kMaxWordBytes) return bpe.encode(word, out);
    const WordCache::Key key = WordCache::key(word);
    const std::span<const std::int32_t> known = cache->find(key);
    if (!known.empty()) {
      out.insert(out.end(), known.begin(), known.end());
      return;
    }
    const std::size_t before = out.size();
    bpe.encode(word, out);
    cache->store(key, std::span(out).subspan(before));
  });
}

void Tokenizer::State::encode_normalized(std::string_view text, WordCache* cache,
                                         std::vector<std::int32_t>& out) const {
  std::vector<Piece> pieces;
  normalized_finder.split(text, pieces);
  for (const Piece& piece : pieces) {
    if (piece.id >= 0) {
      out.push_back(piece.id);
    } else {
      encode_piece(piece.text, cache, out);
    }
  }
}

void Tokenizer::State::encode_text(std::string_view text, WordCache* cache,
                                   std::vector<std::int32_t>& out) const {
  std::vector<Piece> pieces;
  raw_finder.split(text, pieces);
  for (const Piece& piece : pieces) {
    if (piece.id >= 0) {
      out.push_back(piece.id);
    } else if (spec.normalization == Normalization::kNfc && !is_nfc(piece.text, table)) {
      encode_normalized(to_nfc(piece.text, table), cache, out);
    } else {
      encode_normalized(piece.text, cache, out);
    }
  }
}

std::string Tokenizer::State::text_of(std::span<const std::int32_t> tokens,
                                      const auto& is_kept) const {
  std::string bytes;
  for (const std::int32_t id : tokens) {
    if (id < 0 || static_cast<std::size_t>(id) >= entries.size()) continue;
    const Entry& entry = entries[static_cast<std::size_t>(id)];
    if (entry.exists && is_kept(entry)) bytes += entry.bytes;
  }
  return is_valid_utf8(bytes) ? bytes : repair_utf8(bytes);
}

Tokenizer Tokenizer::load(const std::filesystem::path& directory) {
  TokenizerSpec spec = read_tokenizer_spec(directory);
  const UnicodeTable table;
  for (AddedToken& token : spec.added_tokens) {
    const bool is_changed = token.normalized && spec.normalization == Normalization::kNfc;
    token.pattern = is_changed ? to_nfc(token.content, table) : token.content;
  }
  auto state = std::make_unique<State>(std::move(spec));
  const auto& eos = state->spec.end_of_sequence;
  if (eos && !state->ids.contains(*eos)) {
    fail("{}: \"eos_token\" \"{}\" is not a token of tokenizer.json",
         tokenizer_config_place(directory), *eos);
  }
  return Tokenizer(std::move(state));
}

Tokenizer::Tokenizer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  std::vector<std::int32_t> out;
  out.reserve(text.size() / 3 + 8);
  if (options.add_special_tokens) out = state_->spec.prefix;
  const std::unique_lock lock(state_->cache_mutex, std::try_to_lock);
  WordCache* cache = lock.owns_lock() ? &state_->word_cache : nullptr;
  if (is_valid_utf8(text)) {
    state_->encode_text(text, cache, out);
  } else {
    state_->encode_text(repair_utf8(text), cache, out);
  }
  if (options.add_special_tokens)
    out.insert(out.end(), state_->spec.suffix.begin(), state_->spec.suffix.end());
  return out;
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  return state_->text_of(ids, [&](const Entry& entry) { return !skip_special || !entry.special; });
}

std::string Tokenizer::response_text(std::span<const std::int32_t> ids) const {
  return state_->text_of(ids, [](const Entry& entry) {
    return !entry.special || entry.bytes == "<think>" || entry.bytes == "</think>";
  });
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  const auto found = state_->ids.find(std::string(token));
  if (found == state_->ids.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Tokenizer::special_tokens() const {
  std::vector<std::string> texts;
  for (const AddedToken& token : state_->spec.added_tokens) {
    if (token.special) texts.push_back(token.content);
  }
  return texts;
}

std::int64_t Tokenizer::vocabulary_size() const {
  return static_cast<std::int64_t>(state_->entries.size());
}

std::optional<std::int32_t> Tokenizer::begin_of_sequence_id() const {
  if (!state_->spec.prefix.empty()) return state_->spec.prefix.front();
  if (!state_->spec.begin_of_sequence) return std::nullopt;
  return token_to_id(*state_->spec.begin_of_sequence);
}

std::optional<std::int32_t> Tokenizer::end_of_sequence_id() const {
  if (!state_->spec.end_of_sequence) return std::nullopt;
  return token_to_id(*state_->spec.end_of_sequence);
}

}  // namespace lie
