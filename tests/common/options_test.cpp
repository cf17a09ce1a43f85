#include "common/config/options.h"

#include <gtest/gtest.h>

#include <random>

#include "common/config/name_hints.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

TEST(Options, InitialValuesAreTheDefaults) {
  double rate = 1e-6;
  FieldList fields;
  fields.add("rate", rate, {"Rate."});
  rate = 3;
  EXPECT_EQ(fields.fields()[0].default_text, "1e-06");
  EXPECT_EQ(fields.fields()[0].get(), std::vector<std::string>{"3"});
}

TEST(Options, DoublesReadBackBitIdentically) {
  double value = 0;
  FieldList fields;
  fields.add("x", value, {"X."});
  std::mt19937_64 bits(7);
  for (int i = 0; i < 20000; ++i) {
    const double original = std::bit_cast<double>(bits());
    if (!std::isfinite(original)) continue;
    value = original;
    const auto text = fields.fields()[0].get();
    value = 0;
    fields.fields()[0].set(text);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(original));
  }
}

TEST(Options, NanAndInfinityAreRefused) {
  double value = 0;
  FieldList fields;
  fields.add("x", value, {"X."});
  for (const char* text : {"nan", ".nan", "inf", "-inf", ".inf", "1e999", "", "1.0x", "+-1"}) {
    EXPECT_NE(error_of([&] { fields.fields()[0].set({text}); }), "no error") << text;
  }
}

TEST(Options, IntegersMustFitInto64Bits) {
  std::int64_t value = 0;
  FieldList fields;
  fields.add("n", value, {.help = "N.", .min = 1, .max = 8});
  const auto set = [&](const char* text) {
    return error_of([&] { fields.fields()[0].set({text}); });
  };
  EXPECT_EQ(set("+8"), "no error");
  EXPECT_EQ(value, 8);
  EXPECT_EQ(set("9"), "expected an integer, 1 to 8, found 9");
  EXPECT_EQ(set("2.5"), "expected an integer, 1 to 8, found \"2.5\"");
  EXPECT_EQ(
      set("99999999999999999999"),
      "expected an integer, 1 to 8, found 99999999999999999999, which does not fit into 64 bits");
  EXPECT_EQ(value, 8) << "a refused value changes nothing";
}

TEST(Options, BooleansAreWrittenAsInYaml) {
  bool value = false;
  FieldList fields;
  fields.add("x", value, {"X."});
  for (const char* text : {"true", "True", "yes", "ON"}) {
    value = false;
    fields.fields()[0].set({text});
    EXPECT_TRUE(value) << text;
  }
  for (const char* text : {"false", "FALSE", "No", "off"}) {
    value = true;
    fields.fields()[0].set({text});
    EXPECT_FALSE(value) << text;
  }
  for (const char* text : {"1", "0", "y", "", "truely"}) {
    EXPECT_EQ(error_of([&] { fields.fields()[0].set({text}); }),
              fmt::format("expected true or false, found \"{}\"", text));
  }
}

TEST(Options, DeclaringAKeyTwiceIsAnError) {
  bool value = false;
  FieldList fields;
  fields.add("x", value, {"X."});
  EXPECT_THROW(fields.add("x", value, {"X."}), Error);
}

TEST(Nearest, EditDistanceOfKnownPairs) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
  EXPECT_EQ(edit_distance("trian", "train"), 1u);
  EXPECT_EQ(edit_distance("ab", "ba"), 1u);
}

TEST(Nearest, TiesGoToTheFirstName) {
  const std::vector<std::string> known = {"steps", "seed", "samples"};
  EXPECT_EQ(nearest_name("step", known), "steps");
  EXPECT_EQ(nearest_name("sed", known), "seed");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(Nearest, OnlyNearNamesAreSuggested) {
  const std::vector<std::string> known = {"steps", "seed", "samples_per_prompt"};
  EXPECT_EQ(did_you_mean("sed", known), "; did you mean seed?");
  EXPECT_EQ(did_you_mean("sample_per_promt", known), "; did you mean samples_per_prompt?");
  EXPECT_EQ(did_you_mean("batch", known), "");
  EXPECT_EQ(did_you_mean("x", {}), "");
}

}  // namespace
}  // namespace lie
