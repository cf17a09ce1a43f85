// Chat templates of published models against transformers: golden/chat_templates.json, made by
// golden/make_chat_templates.py. The templates themselves come with the engine.
#include "model/tokenizer/chat_template.h"

#include <gtest/gtest.h>

#include "common/file.h"
#include "common/json.h"
#include "model/tokenizer/templates.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

namespace fs = std::filesystem;

const JinjaVariables kTokens = {{"bos_token", "<|bos|>"}, {"eos_token", "<|eos|>"}};

std::vector<ChatMessage> messages_of(const Json& json) {
  std::vector<ChatMessage> messages;
  for (const Json& m : json) messages.push_back({m["role"], m["content"]});
  return messages;
}

/// What the template makes of a conversation; nothing where it refuses.
std::optional<std::string> rendered(const JinjaTemplate& jinja, const Json& messages, bool asked) {
  try {
    return jinja.render(messages_of(messages), asked, kTokens);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::string> expected(const Json& row, bool asked) {
  const Json text = row[!asked || row.contains("appended") ? "plain" : "asked"];
  if (text.is_null()) return std::nullopt;
  return text.get<std::string>() + (asked ? row.value("appended", "") : "");
}

TEST(ChatTemplates, OfPublishedModelsRenderAsTransformersDoes) {
  const Json golden =
      read_json(fs::path(source_directory()) / "tests/tokenizer/golden/chat_templates.json");
  for (const auto& [name, rows] : golden["templates"].items()) {
    const JinjaTemplate jinja(read_file(fs::path(LIE_CHAT_TEMPLATES) / name), name);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const bool asked : {false, true}) {
        EXPECT_EQ(rendered(jinja, golden["conversations"][i], asked), expected(rows[i], asked))
            << name << ", conversation " << i << (asked ? ", asked" : "");
      }
    }
  }
}

}  // namespace
}  // namespace lie
