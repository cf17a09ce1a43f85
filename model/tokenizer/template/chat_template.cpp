#include "model/tokenizer/template/chat_template.h"

#include <utility>

#include "common/base/error.h"
#include "common/io/file.h"
#include "common/io/json.h"
#include "common/text/scan.h"
#include "model/tokenizer/tokenizer_file.h"

namespace lie {
namespace {

constexpr std::string_view kProbeAnswer = "an answer that no template contains";

Json tokenizer_config(const fs::path& model_directory) {
  const fs::path path = model_directory / "tokenizer_config.json";
  return fs::exists(path) ? read_json(path) : Json::object();
}

/// Returns the template named "default" from a list, the form of older tokenizer configs.
std::string default_of(const Json& named) {
  for (const Json& one : named) {
    if (one.is_object() && one.value("name", Json()) == "default" && one.contains("template") &&
        one["template"].is_string()) {
      return one["template"];
    }
  }
  return "";
}

/// Returns the text of a token, which is a string or an object with "content".
std::string token_text(const Json& token) {
  if (token.is_string()) return token;
  const auto content = token.is_object() ? token.find("content") : token.end();
  return content != token.end() && content->is_string() ? content->get<std::string>() : "";
}

/// Returns bos_token and similar tokens, which transformers passes to the template as variables.
JinjaVariables named_tokens(const Json& config) {
  JinjaVariables tokens;
  for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    const auto found = config.find(name);
    const std::string text = found != config.end() ? token_text(*found) : "";
    if (!text.empty()) tokens.emplace(name, text);
  }
  return tokens;
}

/// Returns the texts of all added tokens of a model.
std::vector<std::string> added_tokens(const fs::path& model_directory) {
  std::vector<std::string> texts;
  for (const auto& [name, text] : named_tokens(tokenizer_config(model_directory))) {
    texts.push_back(text);
  }
  const fs::path path = model_directory / "tokenizer.json";
  if (!fs::exists(path)) return texts;
  const Json tree = read_tokenizer_file(path).tree;
  const auto found = tree.find("added_tokens");
  if (found == tree.end() || !found->is_array()) return texts;
  for (const Json& token : *found) texts.push_back(token_text(token));
  return texts;
}

/// Returns the leftmost of `tokens` in a text, and the longest if several begin there. Returns an
/// empty string if the text contains none.
std::string first_token(std::string_view text, const std::vector<std::string>& tokens) {
  std::pair<std::size_t, std::string> first = {std::string_view::npos, ""};
  for (const std::string& token : tokens) {
    const std::size_t at = token.empty() ? std::string_view::npos : text.find(token);
    const bool is_longer = at == first.first && token.size() > first.second.size();
    if (at < first.first || (at != std::string_view::npos && is_longer)) first = {at, token};
  }
  return first.second;
}

}  // namespace

std::optional<ChatTemplateFile> find_chat_template(const fs::path& model_directory) {
  const fs::path file = model_directory / "chat_template.jinja";
  if (fs::exists(file)) return ChatTemplateFile{file, read_file(file)};
  const Json config = tokenizer_config(model_directory);
  const auto found = config.find("chat_template");
  if (found == config.end()) return std::nullopt;
  std::string text = found->is_array() ? default_of(*found) : token_text(*found);
  if (text.empty()) return std::nullopt;
  return ChatTemplateFile{model_directory / "tokenizer_config.json", std::move(text)};
}

ChatTemplate::ChatTemplate(const ChatTemplateFile& file, const fs::path& model_directory)
    : place_(file.path.string()),
      template_(file.text, place_),
      tokens_(named_tokens(tokenizer_config(model_directory))),
      end_of_turn_(find_end_of_turn(model_directory)) {}

std::string ChatTemplate::prompt(std::span<const ChatMessage> messages) const {
  return template_.render(messages, true, tokens_);
}

std::string ChatTemplate::rendered_answer(std::span<const ChatMessage> messages,
                                          std::string_view content) const {
  std::vector<ChatMessage> all(messages.begin(), messages.end());
  all.push_back({"assistant", std::string(content)});
  return template_.render(all, false, tokens_);
}

std::string ChatTemplate::answer(std::span<const ChatMessage> messages,
                                 std::string_view content) const {
  const std::string asked = prompt(messages);
  std::string answer = rendered_answer(messages, content);
  const bool follows = answer.starts_with(asked);
  if (follows) answer.erase(0, asked.size());
  if (!follows || answer.find(trimmed(content)) == std::string::npos) {
    fail(
        "{}: the chat template renders this answer differently from the prompt, so there is no "
        "text to learn after the prompt; set data.prompt_template to a named template",
        place_);
  }
  // The text after the end of turn belongs to the next turn. No model writes it.
  const std::size_t end = end_of_turn_.empty() ? std::string::npos : answer.rfind(end_of_turn_);
  if (end != std::string::npos) answer.resize(end + end_of_turn_.size());
  return answer;
}

std::string ChatTemplate::find_end_of_turn(const fs::path& model_directory) const {
  const std::vector<ChatMessage> question = {{"user", "a question"}};
  const std::string text = rendered_answer(question, kProbeAnswer);
  const std::size_t at = text.rfind(kProbeAnswer);
  if (at == std::string::npos) return "";
  return first_token(std::string_view(text).substr(at + kProbeAnswer.size()),
                     added_tokens(model_directory));
}

}  // namespace lie
