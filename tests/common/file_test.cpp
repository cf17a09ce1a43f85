#include "common/io/file.h"
#include "common/io/checksums.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/io/output_file.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

TEST(File, ReadsBackWhatWasWritten) {
  const TemporaryDirectory scratch;
  const std::string content = std::string("a\0b\r\n", 5) + std::string(100000, 'x');
  write_file_atomically(scratch.path() / "f", content);
  EXPECT_EQ(read_file(scratch.path() / "f"), content);
  write_file_atomically(scratch.path() / "f", "");
  EXPECT_EQ(read_file(scratch.path() / "f"), "");
  EXPECT_EQ(list_directory(scratch.path()), std::vector<std::string>{"f"})
      << "no other file is left";
}

TEST(File, ReadsFilesOfUnknownSize) { EXPECT_FALSE(read_file("/proc/self/status").empty()); }

TEST(File, FailedWritesKeepTheOldContent) {
  const TemporaryDirectory scratch;
  const auto path = scratch.write("f", "old");
  std::filesystem::create_directory(scratch.path() / "f.partial");
  EXPECT_THROW(write_file_atomically(path, "new"), Error);
  EXPECT_EQ(read_file(path), "old");
}

TEST(File, WritesReplaceTheTargetsOfSymbolicLinks) {
  const TemporaryDirectory scratch;
  const auto path = scratch.write("f", "old");
  std::filesystem::create_symlink("f", scratch.path() / "link");
  write_file_atomically(scratch.path() / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(scratch.path() / "link"));
  EXPECT_EQ(read_file(path), "new");
}

TEST(File, WritesToDevicesDirectlyAndRefusesDirectories) {
  const TemporaryDirectory scratch;
  std::filesystem::create_symlink("/dev/full", scratch.path() / "disk");
  EXPECT_NE(error_of([&] { write_file_atomically(scratch.path() / "disk", "x"); }).find("No space"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { write_file_atomically(scratch.path(), "x"); }),
            scratch.path().string() + ": is a directory; name a file");
  EXPECT_EQ(list_directory(scratch.path()), std::vector<std::string>{"disk"});
}

TEST(File, ErrorsNameTheFile) {
  const TemporaryDirectory scratch;
  const std::string missing = (scratch.path() / "none" / "f").string();
  EXPECT_TRUE(
      error_of([&] { read_file(missing); }).starts_with(missing + ": cannot open it: No such"));
  EXPECT_TRUE(error_of([&] {
                write_file_atomically(missing, "x");
              }).starts_with(missing + ": there is no directory "));
  EXPECT_TRUE(error_of([&] { list_directory(missing); }).starts_with(missing + ": cannot list it"));
  EXPECT_TRUE(error_of([&] {
                rename_durably(missing, scratch.path() / "g");
              }).starts_with(missing + ": cannot rename it to"));
  const auto file = scratch.write("f", "");
  EXPECT_TRUE(error_of([&] { make_directories(file); }).starts_with(file.string()));
}

TEST(File, RenamesDirectoriesWithTheirContent) {
  const TemporaryDirectory scratch;
  make_directories(scratch.path() / "a" / "b");
  write_file_atomically(scratch.path() / "a" / "b" / "f", "x");
  sync_file(scratch.path() / "a" / "b" / "f");
  rename_durably(scratch.path() / "a", scratch.path() / "c");
  EXPECT_EQ(read_file(scratch.path() / "c" / "b" / "f"), "x");
  EXPECT_EQ(list_directory(scratch.path()), std::vector<std::string>{"c"});
}

TEST(FilePlace, IsRefusedIfNoFileCanBeWrittenThere) {
  const TemporaryDirectory scratch;
  EXPECT_EQ(error_of([&] { check_place(scratch.path() / "new.json"); }), "no error");
  EXPECT_EQ(error_of([&] { check_place("beside_the_program.json"); }), "no error");
  const std::string here = scratch.path().string();
  EXPECT_EQ(error_of([&] { check_place(here); }), here + ": is a directory; name a file");
  EXPECT_EQ(error_of([&] { check_place(here + "/absent/f"); }),
            here + "/absent/f: there is no directory " + here + "/absent; make it first");
}

TEST(File, TemporaryFilesDoNotFollowPlantedLinks) {
  const TemporaryDirectory scratch;
  const auto victim = scratch.write("victim", "keep");
  std::filesystem::create_symlink("victim", scratch.path() / "f.partial");
  write_file_atomically(scratch.path() / "f", "new");
  EXPECT_EQ(read_file(victim), "keep");
  EXPECT_EQ(read_file(scratch.path() / "f"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(scratch.path() / "f"));
}

TEST(File, ReadsNoPipesOrDevices) {
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0644), 0);
  EXPECT_NE(error_of([&] { read_file(pipe); }).find("is a pipe"), std::string::npos);
  EXPECT_NE(error_of([] { read_file("/dev/zero"); }).find("a device"), std::string::npos);
}

TEST(File, ChecksumListsNameOnlyRegularFilesBelowThem) {
  const TemporaryDirectory scratch;
  const std::string digest(64, '0');
  scratch.write("SHA256SUMS",
                digest + "  /dev/zero\n" + digest + "  ../../etc/passwd\n" + digest + "  link\n");
  std::filesystem::create_symlink("/dev/zero", scratch.path() / "link");
  EXPECT_EQ(checksum_faults(scratch.path()),
            (std::vector<std::string>{"../../etc/passwd is not below the directory of its list",
                                      "/dev/zero is not below the directory of its list",
                                      "link is not a regular file"}));
}

}  // namespace
}  // namespace lie
