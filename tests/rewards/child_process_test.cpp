#include "rewards/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "common/base/error.h"

namespace lie {
namespace {

std::optional<std::string> next_line(ChildProcess& process, LineReader& reader) {
  for (;;) {
    if (auto line = reader.line()) return line;
    if (reader.ended()) return std::nullopt;
    process.pump(1000);
  }
}

std::string end_of(ChildProcess& process) {
  while (!process.ended()) process.pump(10);
  return *process.ended();
}

TEST(ChildProcess, ExchangesLines) {
  ChildProcess cat("cat");
  cat.write("one\ntwo");
  EXPECT_EQ(next_line(cat, cat.output()), "one");
  EXPECT_EQ(cat.output().line(), std::nullopt);
  cat.write(" and a half\n\n");
  EXPECT_EQ(next_line(cat, cat.output()), "two and a half");
  EXPECT_EQ(next_line(cat, cat.output()), "");
  cat.close_input();
  EXPECT_EQ(next_line(cat, cat.output()), std::nullopt);
  EXPECT_EQ(end_of(cat), "exited with status 0");
  EXPECT_TRUE(cat.ended_well());
}

TEST(ChildProcess, AcceptsALastLineWithoutNewline) {
  ChildProcess process("printf 'a\\nb'");
  EXPECT_EQ(next_line(process, process.output()), "a");
  EXPECT_EQ(next_line(process, process.output()), "b");
  EXPECT_EQ(next_line(process, process.output()), std::nullopt);
}

TEST(ChildProcess, MegabytesInBothDirectionsDoNotDeadlock) {
  ChildProcess cat("cat");
  const std::string line(8 << 20, 'x');  // far above a pipe's capacity
  cat.write(line + "\n");
  cat.write(line + "\n");
  EXPECT_EQ(next_line(cat, cat.output()), line);
  EXPECT_EQ(next_line(cat, cat.output()), line);
}

TEST(ChildProcess, StandardErrorDoesNotBlockTheProgram) {
  ChildProcess process("sh -c 'head -c 1000000 /dev/zero | tr \"\\0\" e >&2; echo done'");
  EXPECT_EQ(next_line(process, process.output()), "done");
  EXPECT_EQ(next_line(process, process.errors())->size(), 1000000U);
}

TEST(ChildProcess, WritingToAnEndedProgramIsHarmless) {
  ChildProcess process("true");
  EXPECT_EQ(next_line(process, process.output()), std::nullopt);
  process.write(std::string(1 << 20, 'x'));
  process.write("and more\n");
  EXPECT_EQ(end_of(process), "exited with status 0");
}

TEST(ChildProcess, ReportsHowItEnded) {
  ChildProcess seven("sh -c 'exit 7'");
  EXPECT_EQ(end_of(seven), "exited with status 7");
  EXPECT_FALSE(seven.ended_well());
  ChildProcess none("/no/such/program");
  EXPECT_EQ(end_of(none), "exited with status 127");
  ChildProcess killed("cat");
  EXPECT_EQ(killed.ended(), std::nullopt);
  EXPECT_EQ(killed.kill(), "was killed by signal 9 (Killed)");
}

TEST(ChildProcess, TheShellExpandsTheCommand) {
  ChildProcess process("echo $((1 + 1)) 'two words'");
  EXPECT_EQ(next_line(process, process.output()), "2 two words");
}

/// Blocks until no process has the write end of a pipe with this read end.
void expect_all_writers_end(Descriptor& reader) {
  char byte = 0;
  EXPECT_EQ(::read(reader.number(), &byte, 1), 0);
}

/// A pipe whose write end programs inherit, as descriptor `write`.
struct InheritedPipe {
  Descriptor read, write;
  InheritedPipe() {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) fail("no pipe");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
};

TEST(ChildProcess, WhatTheProgramHasStartedEndsWithIt) {
  InheritedPipe pipe;
  {
    ChildProcess process("sh -c 'tail -f /dev/null & echo started; wait'");
    EXPECT_EQ(next_line(process, process.output()), "started");
    pipe.write.close();
  }
  expect_all_writers_end(pipe.read);
}

TEST(ChildProcess, ProgramsEndWithAKilledRun) {
  InheritedPipe pipe;
  const pid_t run = ::fork();
  if (run == 0) {
    ChildProcess process("sh -c 'trap \"\" TERM; tail -f /dev/null & echo started; wait'");
    next_line(process, process.output());
    ::raise(SIGKILL);
  }
  pipe.write.close();
  int status = 0;
  ::waitpid(run, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  expect_all_writers_end(pipe.read);
}

TEST(ChildProcess, ProgramsDoNotInheritEachOthersPipes) {
  ChildProcess first("cat");
  ChildProcess second("cat");  // would keep first's input open if it inherited it
  first.close_input();
  EXPECT_EQ(next_line(first, first.output()), std::nullopt);
}

}  // namespace
}  // namespace lie
