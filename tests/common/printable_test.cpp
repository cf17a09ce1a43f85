#include "common/text/printable.h"

#include <gtest/gtest.h>

namespace lie {
namespace {

TEST(Printable, ControlCharactersAreWrittenOut) {
  EXPECT_EQ(printable("a\x1b[31mb\r\x7f"), "a\\x1b[31mb\\x0d\\x7f");
  EXPECT_EQ(printable(std::string_view("\0\x07", 2)), "\\x00\\x07");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("a\u202eb\u061c"), "a\\u202eb\\u061c") << "text direction";
}

TEST(Printable, OtherTextStays) {
  EXPECT_EQ(printable("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(printable("\xc2\xa0 \xc3\xa9 \xe4\xb8\xad \xc2"),
            "\xc2\xa0 \xc3\xa9 \xe4\xb8\xad \xc2");
}

TEST(Printable, CommandsAreShownWithoutSecrets) {
  EXPECT_EQ(without_secrets("python j.py --api-key abc --api-key=abc  --max-tokens 5"),
            "python j.py --api-key *** --api-key=***  --max-tokens 5");
  EXPECT_EQ(without_secrets("env HF_TOKEN=abc OPENAI_KEY=d A=hf_x judge sk-123 --keys 3"),
            "env HF_TOKEN=*** OPENAI_KEY=*** A=*** judge *** --keys 3");
  EXPECT_EQ(without_secrets("python3 examples/reward.py"), "python3 examples/reward.py");
  EXPECT_EQ(without_secrets("r.py --reward-per-token=-0.25 --per-token 9 --key=1234567"),
            "r.py --reward-per-token=-0.25 --per-token 9 --key=***");
  EXPECT_EQ(without_secrets("curl http://me:abc@host/a https://host:80/b@c http://me@host"),
            "curl http://me:***@host/a https://host:80/b@c http://me@host");
}

}  // namespace
}  // namespace lie
