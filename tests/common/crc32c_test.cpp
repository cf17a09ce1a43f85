#include "common/io/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace lie {
namespace {

TEST(Crc32c, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  // RFC 3720, B.4, which lists the bytes in packet order.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending;
  for (char c = 0; c < 32; ++c) ascending += c;
  EXPECT_EQ(crc32c(ascending), 0x46dd794eu);
}

}  // namespace
}  // namespace lie
