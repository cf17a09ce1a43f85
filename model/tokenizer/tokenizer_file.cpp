#include "model/tokenizer/tokenizer_file.h"

#include <string_view>

#include "common/base/error.h"
#include "common/io/file.h"

namespace lie {
namespace {

/// Receives the events of the JSON parser. An event handler that returns false stops the parser.
class Receiver : public nlohmann::json_sax<Json> {
 public:
  Receiver(TokenizerFile& file, std::string name) : file_(file), name_(std::move(name)) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(std::int64_t v) override { return value(v); }
  bool number_float(double v, const std::string&) override { return value(v); }
  bool binary(binary_t&) override { return false; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

  bool number_unsigned(std::uint64_t v) override {
    if (list_ != List::kVocabulary || v >= kMaxTokenId) return value(v);
    file_.vocabulary->emplace_back(std::move(key_), static_cast<std::int32_t>(v));
    return true;
  }

  bool string(std::string& v) override {
    if (list_ != List::kMerges) return value(std::move(v));
    if (!in_pair_) return joined_merge(v);
    if (pair_tokens_ == 2) reject_merge("a list of more than two");
    auto& [left, right] = file_.merges->back();
    (pair_tokens_++ == 0 ? left : right) = std::move(v);
    return true;
  }

  bool key(std::string& v) override {
    key_ = std::move(v);
    return true;
  }

  bool start_object(std::size_t) override {
    if (at_model_list("vocab")) return begin(List::kVocabulary);
    return open(Json::object());
  }

  bool end_object() override { return close(); }

  bool start_array(std::size_t) override {
    if (at_model_list("merges")) return begin(List::kMerges);
    if (list_ != List::kMerges || in_pair_) return open(Json::array());
    in_pair_ = true;
    pair_tokens_ = 0;
    file_.merges->emplace_back();
    return true;
  }

  bool end_array() override {
    if (!in_pair_) return close();
    if (pair_tokens_ != 2) reject_merge("a list of fewer than two");
    in_pair_ = false;
    return true;
  }

 private:
  enum class List { kNone, kVocabulary, kMerges };

  bool at_model_list(std::string_view name) const {
    return list_ == List::kNone && open_.size() == 2 && section_ == "model" && key_ == name &&
           open_.back()->is_object();
  }

  bool begin(List list) {
    list_ = list;
    if (list == List::kVocabulary) file_.vocabulary.emplace();
    if (list == List::kMerges) file_.merges.emplace();
    return true;
  }

  bool open(Json container) {
    if (std::ssize(open_) > kMostJsonLevels) {
      fail("{}: lists and objects nest more than {} levels deep", name_, kMostJsonLevels);
    }
    if (open_.size() == 1) section_ = key_;
    open_.push_back(&put(std::move(container)));
    return true;
  }

  bool close() {
    if (list_ == List::kNone) {
      open_.pop_back();
    } else {
      list_ = List::kNone;
    }
    return true;
  }

  bool value(Json v) {
    put(std::move(v));
    return true;
  }

  /// Adds a value to the tree at the parser's position.
  Json& put(Json v) {
    if (list_ == List::kVocabulary) reject("model.vocab." + key_, shown(v), "a token id");
    if (list_ == List::kMerges) reject_merge(shown(v));
    if (open_.empty()) return file_.tree = std::move(v);
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(v));
      return open_.back()->back();
    }
    const auto [place, is_new] =
        open_.back()->get_ref<Json::object_t&>().emplace(key_, std::move(v));
    if (!is_new) fail("{}: key \"{}\" appears twice in one object; delete one", name_, key_);
    return place->second;
  }

  bool joined_merge(const std::string& text) {
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      reject_merge(shown(text));
    }
    file_.merges->emplace_back(text.substr(0, space), text.substr(space + 1));
    return true;
  }

  static std::string shown(const Json& v) {
    return v.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  [[noreturn]] void reject(std::string_view place, std::string_view found,
                           std::string_view expected) const {
    fail("{}: {}: found {}, expected {}", name_, place, found, expected);
  }

  [[noreturn]] void reject_merge(std::string_view found) const {
    const std::size_t rank = file_.merges->size() - (in_pair_ ? 1 : 0);
    reject(fmt::format("model.merges[{}]", rank), found, "two tokens");
  }

  TokenizerFile& file_;
  std::string name_;
  std::vector<Json*> open_;  // open containers of the tree, outermost first
  std::string key_;          // the latest key
  std::string section_;      // the top-level key that the parser is in
  List list_ = List::kNone;  // the list that the parser is in
  bool in_pair_ = false;     // the parser is in a merge written as a list of two tokens
  int pair_tokens_ = 0;      // tokens of that list so far
};

}  // namespace

TokenizerFile read_tokenizer_file(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  TokenizerFile file;
  Receiver receiver(file, path.string());
  if (Json::sax_parse(text, &receiver)) return file;
  file.tree = parse_json(text, path.string());  // throws with the position of the syntax error
  fail("{}: not valid JSON", path.string());
}

}  // namespace lie
