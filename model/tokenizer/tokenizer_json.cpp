#include "model/tokenizer/tokenizer_json.h"

#include <algorithm>

#include "common/base/error.h"
#include "common/io/json_node.h"
#include "model/tokenizer/byte_map.h"
#include "model/tokenizer/tokenizer_config.h"
#include "model/tokenizer/tokenizer_file.h"
#include "model/tokenizer/tokens_beside.h"

namespace lie {
namespace {

std::int32_t read_id(const JsonNode& node) {
  if (!node.is_natural(kMaxTokenId - 1)) node.reject("a token id");
  return node.json().get<std::int32_t>();
}

Normalization read_normalizer(const JsonNode& node) {
  if (node.is_null()) return Normalization::kNone;
  if (node.at("type").text() == "NFC") return Normalization::kNfc;
  if (node.at("type").text() == "Sequence") {
    Normalization found = Normalization::kNone;
    for (const JsonNode& member : node.at("normalizers").items()) {
      if (read_normalizer(member) == Normalization::kNfc) found = Normalization::kNfc;
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

SplitStep read_split(const JsonNode& node) {
  SplitStep step;
  const JsonNode pattern = node.at("pattern");
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

void read_pre_tokenizer(const JsonNode& node, std::vector<PreTokenizerStep>& steps) {
  const std::string type = node.is_null() ? "" : node.at("type").text();
  if (type == "Sequence") {
    for (const JsonNode& member : node.at("pretokenizers").items()) {
      read_pre_tokenizer(member, steps);
    }
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
void check_byte_level(const JsonNode& node, const std::vector<PreTokenizerStep>& steps) {
  const auto is_byte_level = [](const PreTokenizerStep& step) {
    return std::holds_alternative<ByteLevelStep>(step);
  };
  const auto count = std::count_if(steps.begin(), steps.end(), is_byte_level);
  if (count != 1 || !is_byte_level(steps.back()))
    node.reject("a sequence that ends with its one ByteLevel");
}

BpeSpec read_bpe(const JsonNode& node, const std::string& name, TokenizerFile file) {
  // Older files have no type.
  if (!node.at("type").is_null() && node.at("type").text() != "BPE")
    node.at("type").reject("\"BPE\"");
  if (!node.at("dropout").is_null() && node.at("dropout").json() != 0.0)
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
  bpe.byte_fallback = node.at("byte_fallback").flag(false);
  if (!file.vocabulary) node.at("vocab").reject("an object");
  if (!file.merges) node.at("merges").reject("a list");
  bpe.vocabulary = *std::move(file.vocabulary);
  bpe.merges = *std::move(file.merges);
  return bpe;
}

std::vector<AddedToken> read_added_tokens(const JsonNode& node) {
  std::vector<AddedToken> tokens;
  if (node.is_null()) return tokens;
  for (const JsonNode& item : node.items()) {
    AddedToken token;
    token.content = item.at("content").text();
    token.id = read_id(item.at("id"));
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
void read_template(const JsonNode& node, TokenizerSpec& spec) {
  std::vector<std::int32_t>* side = &spec.prefix;
  for (const JsonNode& piece : node.at("single").items()) {
    if (!piece.at("Sequence").is_null()) {
      side = &spec.suffix;
      continue;
    }
    const std::string name = piece.at("SpecialToken").at("id").text();
    for (const JsonNode& id : node.at("special_tokens").at(name).at("ids").items()) {
      side->push_back(read_id(id));
    }
  }
}

void read_post_processor(const JsonNode& node, TokenizerSpec& spec) {
  if (node.is_null()) return;
  const std::string type = node.at("type").text();
  if (type == "Sequence") {
    for (const JsonNode& member : node.at("processors").items()) read_post_processor(member, spec);
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
bool has_no_effect(const JsonNode& step) {
  const std::string type = step.at("type").text();
  if (type == "ByteFallback" || type == "Fuse") return true;
  return type == "Replace" && !step.at("pattern").at("String").is_null() &&
         step.at("pattern").at("String").text() == "\u2581";
}

/// Throws Error unless the decoder is ByteLevel, alone or after steps that change no token of this
/// vocabulary. Fuse, which joins all tokens before their characters become bytes, then has no
/// effect either.
void check_decoder(const JsonNode& node, const TokenizerSpec& spec) {
  if (node.is_object() && !node.at("type").is_null()) {
    if (node.at("type").text() == "ByteLevel") return;
    const JsonNode decoders = node.at("decoders");
    const auto steps = decoders.is_null() ? std::vector<JsonNode>() : decoders.items();
    const auto last = std::ranges::find_if_not(steps, has_no_effect);
    if (std::ssize(steps) == last - steps.begin() + 1 && last->at("type").text() == "ByteLevel") {
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

/// Returns the text of a token in tokenizer_config.json, such as eos_token.
std::optional<std::string> read_token(const Json& config, const std::filesystem::path& directory,
                                      const char* name) {
  const std::string place = tokenizer_config_place(directory) + ": ";
  const JsonNode token = JsonNode(&config, place).at(name);
  if (token.is_null()) return std::nullopt;
  return token.is_object() ? token.at("content").text() : token.text();
}

}  // namespace

TokenizerSpec read_tokenizer_spec(const std::filesystem::path& directory) {
  const auto path = directory / "tokenizer.json";
  TokenizerFile file = read_tokenizer_file(path);
  const Json tree = std::move(file.tree);
  const JsonNode root(&tree, path.string() + ": ");
  root.object();
  TokenizerSpec spec;
  spec.normalization = read_normalizer(root.at("normalizer"));
  read_pre_tokenizer(root.at("pre_tokenizer"), spec.pre_tokenizer);
  check_byte_level(root.at("pre_tokenizer"), spec.pre_tokenizer);
  spec.bpe = read_bpe(root.at("model"), path.string(), std::move(file));
  spec.added_tokens = read_added_tokens(root.at("added_tokens"));
  add_tokens_beside(directory, spec);
  check_decoder(root.at("decoder"), spec);
  read_post_processor(root.at("post_processor"), spec);
  const Json config = read_tokenizer_config(directory);
  spec.begin_of_sequence = read_token(config, directory, "bos_token");
  spec.end_of_sequence = read_token(config, directory, "eos_token");
  return spec;
}

std::string begin_of_sequence(const std::filesystem::path& directory) {
  const auto path = directory / "tokenizer.json";
  if (directory.empty() || !std::filesystem::exists(path)) return "";
  const TokenizerFile file = read_tokenizer_file(path);
  const JsonNode root(&file.tree, path.string() + ": ");
  TokenizerSpec spec;
  spec.added_tokens = read_added_tokens(root.at("added_tokens"));
  for (AddedToken& token : tokens_beside(directory)) spec.added_tokens.push_back(std::move(token));
  read_post_processor(root.at("post_processor"), spec);
  std::string text;
  for (const std::int32_t id : spec.prefix) {
    const auto token = std::ranges::find(spec.added_tokens, id, &AddedToken::id);
    if (token == spec.added_tokens.end()) {
      fail(
          "{}: its post_processor begins texts with token {}, which is not one of added_tokens, so "
          "that prompts cannot begin with it; set data.begin_of_sequence=never",
          path.string(), id);
    }
    text += token->content;
  }
  const Json config = read_tokenizer_config(directory);
  const std::string bos = read_token(config, directory, "bos_token").value_or("");
  const auto flag = config.find("add_bos_token");
  if (flag == config.end() || !flag->is_boolean() || bos.empty()) return text;
  if (!flag->get<bool>()) return text == bos ? "" : text;
  const bool is_token =
      std::ranges::find(spec.added_tokens, bos, &AddedToken::content) != spec.added_tokens.end();
  return text.empty() && is_token ? bos : text;
}

}  // namespace lie
