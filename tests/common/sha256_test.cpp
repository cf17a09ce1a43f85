#include "common/io/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace lie {
namespace {

// Examples of FIPS 180-4 as NIST publishes them.
TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnTheSplit) {
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string text(length, 'q');
    for (const std::size_t cut : {length / 3, length / 2, length}) {
      Sha256 hash;
      hash.update(std::string_view(text).substr(0, cut));
      hash.update(std::string_view(text).substr(cut));
      ASSERT_EQ(hash.hex_digest(), sha256_hex(text)) << length << " " << cut;
    }
  }
}

}  // namespace
}  // namespace lie
