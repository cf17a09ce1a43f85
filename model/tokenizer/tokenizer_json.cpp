#include "model/tokenizer/tokenizer_json.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/io/json.h"
#include "model/tokenizer/bpe.h"
#include "model/tokenizer/tokenizer_file.h"

namespace lie {
namespace {

/// One value of the file with its path, so that every error names file and key.
class Node {
 public:
  /// `json` is null for an absent key.
  Node(const Json* json, std::string place) : json_(json), place_(std::move(place)) {}

  const std::string& place() const { return place_; }
  bool is_null() const { return json_ == nullptr || json_->is_null(); }
  bool is_object() const { return json_ != nullptr && json_->is_object(); }
  bool is_zero() const { return json_ != nullptr && *json_ == 0.0; }

  Node at(const std::string& key) const {
    const std::string place = place_.ends_with(' ') ? place_ + key : place_ + "." + key;
    if (!is_object()) return {nullptr, place};
    const auto found = json_->find(key);
    return {found == json_->end() ? nullptr : &*found, place};
  }

  Node item(std::size_t i) const { return {&array()[i], fmt::format("{}[{}]", place_, i)}; }

  const Json& array() const {
    if (json_ == nullptr || !json_->is_array()) reject("a list");
    return *json_;
  }

  const Json& object() const {
    if (!is_object()) reject("an object");
    return *json_;
  }

  const std::string& text() const {
    if (json_ == nullptr || !json_->is_string()) reject("a string");
    return json_->get_ref<const std::string&>();
  }

  bool flag(bool fallback) const {
    if (is_null()) return fallback;
    if (!json_->is_boolean()) reject("true or false");
    return json_->get<bool>();
  }

  std::int32_t id() const {
    if (json_ == nullptr || !is_id(*json_)) reject("a token id");
    return json_->get<std::int32_t>();
  }

  static bool is_id(const Json& json) {
    return json.is_number_unsigned() && json.get<std::uint64_t>() < kMaxTokenId;
  }

  [[noreturn]] void reject(std::string_view expected) const {
    std::string found =
        json_ == nullptr ? "nothing" : json_->dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 80) found = found.substr(0, 77) + "...";
    fail("{}: found {}, expected {}", place_, found, expected);
  }

 private:
  const Json* json_;
  std::string place_;
};

Normalization read_normalizer(const Node& node) {
  if (node.is_null()) return Normalization::kNone;
  if (node.at("type").text() == "NFC") return Normalization::kNfc;
  if (node.at("type").text() == "Sequence") {
    Normalization found = Normalization::kNone;
    for (std::size_t i = 0; i < node.at("normalizers").array().size(); ++i) {
      if (read_normalizer(node.at("normalizers").item(i)) == Normalization::kNfc)
        found = Normalization::kNfc;
    }
    return found;
  }
  node.at("type").reject("\"NFC\" or no normalizer");
}

/// Returns a pattern that matches exactly this text.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}#-&~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

SplitStep read_split(const Node& node) {
  SplitStep step;
  const Node pattern = node.at("pattern");
  if (pattern.at("Regex").is_null() && pattern.at("String").is_null())
    pattern.reject("\"Regex\" or \"String\"");
  step.pattern = pattern.at("Regex").is_null() ? escaped(pattern.at("String").text())
                                               : pattern.at("Regex").text();
  step.invert = node.at("invert").flag(false);
  const std::string behavior = node.at("behavior").text();
  if (behavior == "Removed") {
    step.behavior = SplitStep::Behavior::kRemoved;
  } else if (behavior != "Isolated") {
    node.at("behavior").reject("\"Isolated\" or \"Removed\"");
  }
  return step;
}

void read_pre_tokenizer(const Node& node, std::vector<PreTokenizerStep>& steps) {
  const std::string type = node.is_null() ? "" : node.at("type").text();
  if (type == "Sequence") {
    const Node members = node.at("pretokenizers");
    for (std::size_t i = 0; i < members.array().size(); ++i)
      read_pre_tokenizer(members.item(i), steps);
  } else if (type == "Split") {
    steps.emplace_back(read_split(node));
  } else if (type == "Digits") {
    steps.emplace_back(DigitsStep{node.at("individual_digits").flag(false)});
  } else if (type == "ByteLevel") {
    steps.emplace_back(ByteLevelStep{.add_prefix_space = node.at("add_prefix_space").flag(true),
                                     .use_regex = node.at("use_regex").flag(true)});
  } else {
    node.reject("a pre-tokenizer of type Sequence, Split, Digits or ByteLevel");
  }
}

/// Throws Error unless the byte-level alphabet is applied exactly once, at the end. Otherwise the
/// vocabulary is not byte-level.
void check_byte_level(const Node& node, const std::vector<PreTokenizerStep>& steps) {
  const auto is_byte_level = [](const PreTokenizerStep& step) {
    return std::holds_alternative<ByteLevelStep>(step);
  };
  const auto count = std::count_if(steps.begin(), steps.end(), is_byte_level);
  if (count != 1 || !is_byte_level(steps.back()))
    node.reject("a sequence that ends with its one ByteLevel");
}

BpeSpec read_bpe(const Node& node, const std::string& name, TokenizerFile file) {
  // Older files have no type.
  if (!node.at("type").is_null() && node.at("type").text() != "BPE")
    node.at("type").reject("\"BPE\"");
  if (!node.at("dropout").is_null() && !node.at("dropout").is_zero())
    node.at("dropout").reject("null");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!node.at(key).is_null() && !node.at(key).text().empty())
      node.at(key).reject("an empty string");
  }
  BpeSpec bpe;
  bpe.file = name;
  bpe.ignore_merges = node.at("ignore_merges").flag(false);
  if (!node.at("unk_token").is_null()) bpe.unknown_token = node.at("unk_token").text();
  bpe.fuse_unknown = node.at("fuse_unk").flag(false);
  if (!file.vocabulary) node.at("vocab").reject("an object");
  if (!file.merges) node.at("merges").reject("a list");
  bpe.vocabulary = *std::move(file.vocabulary);
  bpe.merges = *std::move(file.merges);
  return bpe;
}

std::vector<AddedToken> read_added_tokens(const Node& node) {
  std::vector<AddedToken> tokens;
  for (std::size_t i = 0; !node.is_null() && i < node.array().size(); ++i) {
    const Node item = node.item(i);
    AddedToken token;
    token.content = item.at("content").text();
    token.id = item.at("id").id();
    token.single_word = item.at("single_word").flag(false);
    token.lstrip = item.at("lstrip").flag(false);
    token.rstrip = item.at("rstrip").flag(false);
    token.special = item.at("special").flag(false);
    token.normalized = item.at("normalized").flag(!token.special);
    if (!token.content.empty()) tokens.push_back(std::move(token));
  }
  return tokens;
}

/// Reads "single" of a TemplateProcessing: special tokens before and after the text, "Sequence A".
void read_template(const Node& node, TokenizerSpec& spec) {
  const Node pieces = node.at("single");
  std::vector<std::int32_t>* side = &spec.prefix;
  for (std::size_t i = 0; i < pieces.array().size(); ++i) {
    const Node piece = pieces.item(i);
    if (!piece.at("Sequence").is_null()) {
      side = &spec.suffix;
      continue;
    }
    const std::string name = piece.at("SpecialToken").at("id").text();
    const Node ids = node.at("special_tokens").at(name).at("ids");
    for (std::size_t k = 0; k < ids.array().size(); ++k) side->push_back(ids.item(k).id());
  }
}

void read_post_processor(const Node& node, TokenizerSpec& spec) {
  if (node.is_null()) return;
  const std::string type = node.at("type").text();
  if (type == "Sequence") {
    const Node members = node.at("processors");
    for (std::size_t i = 0; i < members.array().size(); ++i)
      read_post_processor(members.item(i), spec);
  } else if (type == "TemplateProcessing") {
    read_template(node, spec);
  } else if (type != "ByteLevel") {  // ByteLevel changes only offsets, which are not used here
    node.at("type").reject("Sequence, TemplateProcessing or ByteLevel");
  }
}

/// Returns whether the token is a byte in SentencePiece's form, such as "<0x0A>".
bool is_byte_name(std::string_view token) {
  return token.size() == 6 && token.starts_with("<0x") && token.ends_with('>');
}

/// Returns whether a decoder step changes no token of a byte-level vocabulary. transformers writes
/// such steps, ByteFallback, Fuse and Replace, for models converted from GGUF. They apply only to
/// SentencePiece tokens.
bool has_no_effect(const Node& step) {
  const std::string type = step.at("type").text();
  if (type == "ByteFallback" || type == "Fuse") return true;
  return type == "Replace" && !step.at("pattern").at("String").is_null() &&
         step.at("pattern").at("String").text() == "\u2581";
}

/// Throws Error unless the decoder is ByteLevel, alone or after steps that change no token of this
/// vocabulary. Fuse, which joins all tokens before their characters become bytes, then has no
/// effect either.
void check_decoder(const Node& node, const TokenizerSpec& spec) {
  if (node.is_object() && !node.at("type").is_null()) {
    if (node.at("type").text() == "ByteLevel") return;
    const Node steps = node.at("decoders");
    std::size_t i = 0;
    const std::size_t count = steps.is_null() ? 0 : steps.array().size();
    while (i + 1 < count && has_no_effect(steps.item(i))) ++i;
    if (count > 0 && i + 1 == count && steps.item(i).at("type").text() == "ByteLevel") {
      const ByteMap byte_map;
      const auto check = [&](const std::string& token) {
        if (!is_byte_name(token) && byte_map.bytes(token)) return;
        fail("{}: token \"{}\" is not of the byte-level alphabet, which this decoder requires",
             node.place(), token);
      };
      for (const auto& [token, id] : spec.bpe.vocabulary) check(token);
      for (const AddedToken& token : spec.added_tokens) check(token.content);
      return;
    }
  }
  node.reject("a decoder of type ByteLevel");
}

std::optional<std::string> read_end_of_sequence(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Json json = read_json(path);
  const Node token = Node(&json, path.string() + ": ").at("eos_token");
  if (token.is_null()) return std::nullopt;
  return token.is_object() ? token.at("content").text() : token.text();
}

}  // namespace

TokenizerSpec read_tokenizer_spec(const std::filesystem::path& directory) {
  const auto path = directory / "tokenizer.json";
  TokenizerFile file = read_tokenizer_file(path);
  const Json tree = std::move(file.tree);
  const Node root(&tree, path.string() + ": ");
  root.object();
  TokenizerSpec spec;
  spec.normalization = read_normalizer(root.at("normalizer"));
  read_pre_tokenizer(root.at("pre_tokenizer"), spec.pre_tokenizer);
  check_byte_level(root.at("pre_tokenizer"), spec.pre_tokenizer);
  spec.bpe = read_bpe(root.at("model"), path.string(), std::move(file));
  spec.added_tokens = read_added_tokens(root.at("added_tokens"));
  check_decoder(root.at("decoder"), spec);
  read_post_processor(root.at("post_processor"), spec);
  spec.end_of_sequence = read_end_of_sequence(directory / "tokenizer_config.json");
  return spec;
}

}  // namespace lie
