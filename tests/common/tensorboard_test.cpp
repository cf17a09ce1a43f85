#include "common/io/tensorboard.h"

#include <gtest/gtest.h>

#include "common/io/file.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// golden/make_tensorboard.py made the golden bytes with TensorBoard 2.21.
TEST(TensorBoard, RecordsEqualThoseOfTensorBoard) {
  const std::vector<Scalar> scalars = {
      {"reward/accuracy", 0.75}, {"zero", 0.0}, {"negative", -1e30}, {"長さ", 1.0 / 3}};
  EXPECT_EQ(hex(version_record(1700000000.25)),
            "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9");
  EXPECT_EQ(hex(restart_record(1700000001.5, 51)),
            "0f000000000000006d532b090900006040fc54d94110333a020801eb0af7b2");
  EXPECT_EQ(hex(scalars_record(1700000002.125, 300, scalars)),
            "53000000000000000d7d4e910900008840fc54d94110ac022a450a160a0f7265776172642f616363757261"
            "6379150000403f0a0b0a047a65726f15000000000a0f0a086e6567617469766515caf249f10a0d0a06e995"
            "b7e3819515abaaaa3eebb457e0");
  EXPECT_EQ(hex(scalars_record(0.5, 0, std::span(scalars).first(1))),
            "2300000000000000b09f774309000000000000e03f2a180a160a0f7265776172642f616363757261637915"
            "0000403fac8aed53");
}

TEST(TensorBoard, TextsAndHistogramsEqualThoseOfTensorBoard) {
  EXPECT_EQ(hex(text_record(2.5, 7, "evaluation/samples", "長さ")),
            "3b000000000000001a23ac5c09000000000000044010072a2e0a2c0a126576616c756174696f6e2f7361"
            "6d706c6573420c080712004206e995b7e381954a080a060a0474657874fba74128");
  EXPECT_EQ(hex(histogram_record(2.5, 7, "length", std::vector<double>{10, 4, 34, 10})),
            "2f0200000000000071bd3ec109000000000000044010072aa1040a9e040a066c656e6774682a93040900"
            "00000000001040110000000000004140190000000000001040210000000000004d402900000000007095"
            "4032f001000000000000144000000000000018400000000000001c400000000000002040000000000000"
            "22400000000000002440000000000000264000000000000028400000000000002a400000000000002c40"
            "0000000000002e4000000000000030400000000000003140000000000000324000000000000033400000"
            "000000003440000000000000354000000000000036400000000000003740000000000000384000000000"
            "000039400000000000003a400000000000003b400000000000003c400000000000003d40000000000000"
            "3e400000000000003f400000000000004040000000000080404000000000000041403af0010000000000"
            "00f03f000000000000000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000040000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
            "000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
            "0000000000000000000000000000000000000000000000f03f3ade537a");
  EXPECT_EQ(hex(histogram_record(2.5, 7, "length", std::vector<double>{5, 5})),
            "5a00000000000000136fb4bf09000000000000044010072a4d0a4b0a066c656e6774682a410900000000"
            "000014401100000000000014401900000000000000402100000000000024402900000000000049403208"
            "00000000000014403a080000000000000040d65a66e4");
}

TEST(TensorBoard, AWriterThatContinuesKeepsEarlierFilesAndRestartsAtItsStep) {
  const TemporaryDirectory scratch;
  const auto earlier = scratch.write("events.out.tfevents.1700000000.host.1", "earlier");
  const EventWriter writer(scratch.path(), 51);
  EXPECT_TRUE(std::filesystem::exists(earlier));
  const std::string head = version_record(0) + restart_record(0, 51);
  EXPECT_EQ(read_file(writer.path()).size(), head.size());
  EXPECT_EQ(event_file_fault(writer.path()), "");
}

TEST(TensorBoard, FilesAreCompleteAfterEachStep) {
  const TemporaryDirectory scratch;
  EventWriter writer(scratch.path() / "tensorboard");
  const std::size_t head = version_record(0).size() + restart_record(0, 0).size();
  EXPECT_EQ(read_file(writer.path()).size(), head);
  const std::vector<Scalar> scalars = {{"accuracy", 0.5}};
  writer.write(1.5, 1, scalars);
  EXPECT_EQ(read_file(writer.path()).substr(head), scalars_record(1.5, 1, scalars));
  EXPECT_TRUE(writer.path().filename().string().starts_with("events.out.tfevents.1"));
}

TEST(TensorBoard, WritersReplaceEarlierEventFilesOnly) {
  const TemporaryDirectory scratch;
  const auto earlier = scratch.write("events.out.tfevents.1700000000.host.1", "earlier");
  const auto other = scratch.write("projector_config.pbtxt", "of another program");
  const EventWriter writer(scratch.path());
  EXPECT_FALSE(std::filesystem::exists(earlier));
  EXPECT_TRUE(std::filesystem::exists(other));
}

TEST(TensorBoard, UnwritableDirectoriesAreNamed) {
  const TemporaryDirectory scratch;
  const auto file = scratch.write("f", "");
  EXPECT_TRUE(error_of([&] { EventWriter{file}; }).starts_with(file.string()));
}

TEST(TensorBoard, DetectsFlippedBitsAndIgnoresIncompleteRecords) {
  const TemporaryDirectory scratch;
  const std::vector<Scalar> scalars = {{"accuracy", 0.5}};
  const std::string whole = version_record(1) + scalars_record(2, 1, scalars);
  EXPECT_EQ(event_file_fault(scratch.write("whole", whole)), "");
  EXPECT_EQ(event_file_fault(scratch.write("torn", whole.substr(0, whole.size() - 6))), "");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    EXPECT_NE(event_file_fault(scratch.write("flipped", bytes)), "") << bit;
  }
}

}  // namespace
}  // namespace lie
