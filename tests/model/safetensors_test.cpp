#include "model/weights/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/temporary_directory.h"
#include "tests/write_safetensors.h"

namespace lie {
namespace {

using testing::ElementsAre, testing::HasSubstr;

std::string file_bytes(std::uint64_t header_length, const std::string& header,
                       const std::string& data) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &header_length, 8);
  return bytes + header + data;
}

std::string file_bytes(const std::string& header, const std::string& data) {
  return file_bytes(header.size(), header, data);
}

std::string error_of_bytes(const std::string& bytes) {
  const TemporaryDirectory directory;
  const auto path = directory.write("a.safetensors", bytes);
  return error_of([&] { SafetensorsFile file(path); });
}

std::string error_of_header(const std::string& header) {
  return error_of_bytes(file_bytes(header, std::string(16, 'x')));
}

std::vector<float> floats_of(const std::string& dtype, const std::string& data, std::size_t count) {
  const SafetensorsEntry entry{"t",
                               dtype,
                               {static_cast<std::int64_t>(count)},
                               std::as_bytes(std::span(data.data(), data.size()))};
  std::vector<float> out(count);
  read_floats(entry, out);
  return out;
}

std::string halves(std::initializer_list<std::uint16_t> bits) {
  return {reinterpret_cast<const char*>(bits.begin()), 2 * bits.size()};
}

TEST(Safetensors, WrittenTensorsReadBackEqual) {
  const TemporaryDirectory directory;
  const std::vector<float> matrix = {1, 2, 3, 4, 5, 6};
  const std::vector<float> vector = {-0.5f, 7};
  const std::vector<FloatTensor> tensors = {
      {"b", {3, 2}, matrix}, {"a", {2}, vector}, {"none", {0}, {}}};
  const auto path = directory.path() / "t.safetensors";
  write_safetensors(tensors, path);

  const SafetensorsFile file(path);
  ASSERT_EQ(file.entries().size(), 3u);
  EXPECT_EQ(file.entries()[0].name, "b");
  EXPECT_THAT(file.entries()[0].shape, ElementsAre(3, 2));
  EXPECT_EQ(file.entries()[0].dtype, "F32");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file.entries()[0].data.data()) % 64, 0u);
  std::vector<float> back(6);
  read_floats(file.entries()[0], back);
  EXPECT_EQ(back, matrix);
}

TEST(Safetensors, HalvesAreWrittenAsTheyAre) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "t.safetensors";
  const std::vector<TensorShape> shapes = {{"h", {2}, "BF16"}, {"f", {1}}};
  SafetensorsWriter writer(path, shapes);
  writer.append(std::vector<std::uint16_t>{0x3f80, 0xc000});  // 1 and -2
  writer.append(std::vector<float>{3});
  writer.close();
  const SafetensorsFile file(path);
  ASSERT_EQ(file.entries().size(), 2u);
  std::vector<float> halves(2), floats(1);
  read_floats(file.entries()[0], halves);
  read_floats(file.entries()[1], floats);
  EXPECT_THAT(halves, ElementsAre(1, -2));
  EXPECT_THAT(floats, ElementsAre(3));
}

TEST(Safetensors, ReadsBf16) {
  EXPECT_THAT(
      floats_of("BF16", halves({0x3f80, 0xc000, 0x0001, 0x7f80}), 4),
      ElementsAre(1.0f, -2.0f, std::ldexp(1.0f, -133), std::numeric_limits<float>::infinity()));
}

TEST(Safetensors, ReadsF16WithSubnormalsAndInfinity) {
  EXPECT_THAT(floats_of("F16", halves({0x3c00, 0xc000, 0x0001, 0x83ff, 0x7bff, 0xfc00, 0x8000}), 7),
              ElementsAre(1.0f, -2.0f, 0x1p-24f, -1023 * 0x1p-24f, 65504.0f,
                          -std::numeric_limits<float>::infinity(), 0.0f));
  EXPECT_TRUE(std::isnan(floats_of("F16", halves({0x7e01}), 1)[0]));
  EXPECT_TRUE(std::signbit(floats_of("F16", halves({0x8000}), 1)[0]));
}

TEST(Safetensors, RejectsOtherDtypesAsFloats) {
  EXPECT_THAT(error_of([] { floats_of("I16", halves({1, 2}), 2); }), HasSubstr("I16"));
  EXPECT_THAT(error_of([] { floats_of("F32", halves({1, 2}), 2); }), HasSubstr("cannot be read"));
}

TEST(Safetensors, AcceptsTensorsInAnyOrderAndMetadata) {
  EXPECT_EQ(error_of_header(R"({"b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},)"
                            R"("__metadata__":{"format":"pt"},)"
                            R"("a":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}  )"),
            "no error");
}

TEST(Safetensors, RejectsImpossibleHeaderLengths) {
  EXPECT_THAT(error_of_bytes(""), HasSubstr("too few"));
  EXPECT_THAT(error_of_bytes("1234567"), HasSubstr("too few"));
  EXPECT_THAT(error_of_bytes(file_bytes(100, "{}", "")), HasSubstr("header length 100"));
  EXPECT_THAT(error_of_bytes(file_bytes(~0ull, "{}", "")), HasSubstr("header length"));
  EXPECT_THAT(error_of_bytes(file_bytes(~0ull - 7, "{}", "")), HasSubstr("header length"));
}

TEST(Safetensors, RejectsMalformedHeaders) {
  EXPECT_THAT(error_of_header("not json"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of_header("[]"), HasSubstr(": found [], expected an object"));
  EXPECT_THAT(error_of_header(R"({"a":3})"), HasSubstr("a: found 3, expected an object"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[4]}})"),
              HasSubstr("expected exactly dtype, shape and data_offsets"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[4],"offsets":[0,16]}})"),
              HasSubstr("a.data_offsets: found nothing, expected a list"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"Q4","shape":[4],"data_offsets":[0,16]}})"),
              HasSubstr("a.dtype: found \"Q4\", expected a dtype"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":7,"shape":[4],"data_offsets":[0,16]}})"),
              HasSubstr("a.dtype: found 7, expected a string"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})"),
              HasSubstr("a.shape[0]: found -4, expected a size"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,16]}})"),
              HasSubstr("shape"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0]}})"),
              HasSubstr("data_offsets"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
                              R"("a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})"),
              HasSubstr("twice"));
}

TEST(Safetensors, RejectsShapesThatOverflow) {
  EXPECT_THAT(error_of_header(
                  R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
              HasSubstr("fits memory"));
  EXPECT_THAT(error_of_header(
                  R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,0]}})"),
              HasSubstr("fits memory"));
}

TEST(Safetensors, RejectsInconsistentOffsets) {
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})"),
              HasSubstr("expected a span of"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})"),
              HasSubstr("expected a span of"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[5],"data_offsets":[0,20]}})"),
              HasSubstr("truncated"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                              R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})"),
              HasSubstr("\"b\" begins at byte 8, inside"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                              R"("b":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})"),
              HasSubstr("not right after"));
  EXPECT_THAT(error_of_header(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})"),
              HasSubstr("no tensor"));
}

TEST(Safetensors, RefusesAPipeWithoutWaitingForItsWriter) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.safetensors";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { SafetensorsFile file(path); }), HasSubstr("is not a regular file"));
}

TEST(Safetensors, ErrorsNameAMissingFile) {
  EXPECT_THAT(error_of([] { SafetensorsFile file("/nowhere/model.safetensors"); }),
              HasSubstr("/nowhere/model.safetensors"));
  EXPECT_THAT(error_of([] { SafetensorsFile file("/tmp"); }), HasSubstr("/tmp"));
}

}  // namespace
}  // namespace lie
