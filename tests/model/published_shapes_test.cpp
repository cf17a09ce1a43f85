// Tests the published shapes of popular models. Their parameter layouts must equal those of
// transformers (configs/make_expected.py), and the loader must handle files of that size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "common/io/file.h"
#include "common/io/json.h"
#include "model/layers/rope.h"
#include "model/weights/weights.h"
#include "tests/bench/bench_model.h"
#include "tests/directories.h"
#include "tests/temporary_directory.h"

namespace lie {
namespace {

using testing::HasSubstr;
using Shape = std::vector<std::int64_t>;
using Shapes = std::map<std::string, Shape>;

class PublishedShapes : public testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path folder() const {
    return std::filesystem::path(source_directory()) / "tests/model/configs" / GetParam();
  }
  ModelConfig config() const { return load_model_config(folder()); }
  Json expected() const { return read_json(folder() / "expected.json"); }
};

INSTANTIATE_TEST_SUITE_P(Models, PublishedShapes,
                         testing::Values("qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "qwen3-8b",
                                         "qwen3-14b", "qwen3-32b", "qwen2.5-1.5b", "llama-3.2-1b",
                                         "llama-3.2-3b"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

Shapes shapes_of(const ModelConfig& config) {
  Shapes shapes;
  for (const Parameter& p : parameter_layout(config)) {
    shapes[p.name] = p.decay ? Shape{p.rows, p.cols} : Shape{p.cols};
  }
  return shapes;
}

Shapes shapes_in(const Json& expected) {
  Shapes shapes = expected["others"].get<Shapes>();
  for (int layer = 0; layer < expected["layers"].get<int>(); ++layer) {
    for (const auto& [name, shape] : expected["layer"].items()) {
      shapes["model.layers." + std::to_string(layer) + "." + name] = shape.get<Shape>();
    }
  }
  return shapes;
}

/// Returns config.json as this program writes it.
std::string written(const ModelConfig& config) {
  const TemporaryDirectory directory;
  save_model_config(config, directory.path());
  return read_file(directory.path() / "config.json");
}

TEST(PublishedShapes, AreThoseOfTheBenchmarks) {
  for (const std::string size : {"1.7b", "4b"}) {
    const auto folder = std::filesystem::path(source_directory()) / "tests/model/configs";
    EXPECT_EQ(written(bench::qwen3_config(size)),
              written(load_model_config(folder / ("qwen3-" + size))));
  }
}

/// A model directory with shards of several gigabytes that occupy no disk space, since the files
/// are sparse after their headers.
class SparseModel {
 public:
  SparseModel(const std::filesystem::path& folder, Shapes shapes, const std::string& dtype = "BF16")
      : dtype_(dtype) {
    std::filesystem::copy_file(folder / "config.json", directory_.path() / "config.json");
    for (const auto& [name, shape] : shapes) add(name, shape);
    write_shard();
    directory_.write("model.safetensors.index.json", Json{{"weight_map", map_}}.dump());
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  static constexpr std::uint64_t kShardBytes = std::uint64_t{4} << 30;

  void add(const std::string& name, const Shape& shape) {
    std::uint64_t bytes = dtype_ == "BF16" ? 2 : 8;
    for (const std::int64_t size : shape) bytes *= static_cast<std::uint64_t>(size);
    header_[name] = {{"dtype", dtype_}, {"shape", shape}, {"data_offsets", {end_, end_ + bytes}}};
    end_ += bytes;
    map_[name] = shard_name();
    if (end_ > kShardBytes) write_shard();
  }
  void write_shard() {
    const std::string header = header_.dump();
    const std::uint64_t length = header.size();
    const std::string start(reinterpret_cast<const char*>(&length), 8);
    const auto path = directory_.write(shard_name(), start + header);
    std::filesystem::resize_file(path, 8 + length + end_);
    header_ = Json::object();
    end_ = 0;
    ++shard_;
  }
  std::string shard_name() const { return "shard-" + std::to_string(shard_) + ".safetensors"; }

  TemporaryDirectory directory_;
  std::string dtype_;
  Json header_ = Json::object(), map_ = Json::object();
  std::uint64_t end_ = 0;
  int shard_ = 0;
};

TEST_P(PublishedShapes, TensorsEqualThoseOfTransformers) {
  EXPECT_EQ(shapes_of(config()), shapes_in(expected()));
}

TEST_P(PublishedShapes, RotaryFrequenciesEqualThoseOfTransformers) {
  const std::vector<float> ours = rope_frequencies(config());
  const auto theirs = expected()["inverse_frequencies"].get<std::vector<float>>();
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_FLOAT_EQ(ours[i], theirs[i]) << i;
}

TEST_P(PublishedShapes, LargeFilesAreCheckedWithoutAllocation) {
  const SparseModel model(folder(), shapes_of(config()));
  const WeightsPlan plan = plan_weights(model.path());
  EXPECT_EQ(plan.parameters, expected()["parameters"].get<std::int64_t>());
  EXPECT_EQ(plan.file_bytes, 2 * plan.parameters);
  EXPECT_GE(plan.memory_bytes, 4 * plan.parameters);
  EXPECT_LE(plan.memory_bytes, 4 * plan.parameters + 64 * plan.tensors);
  EXPECT_TRUE(plan.is_bf16);
  EXPECT_EQ(plan.shards > 1, plan.file_bytes > std::int64_t{5} << 30);
}

TEST_P(PublishedShapes, ErrorsNameTheTensorThatDoesNotFit) {
  const Shapes shapes = shapes_of(config());
  const std::string last =
      "model.layers." + std::to_string(config().layers - 1) + ".mlp.down_proj.weight";
  const auto error = [&](const Shapes& changed, const std::string& dtype = "BF16") {
    const SparseModel model(folder(), changed, dtype);
    return error_of([&] { plan_weights(model.path()); });
  };
  Shapes changed = shapes;
  changed.erase(last);
  EXPECT_THAT(error(changed), HasSubstr("\"" + last + "\" is missing"));
  changed = shapes;
  ++changed[last][1];
  EXPECT_THAT(error(changed), HasSubstr("\"" + last + "\" has shape ["));
  changed = shapes;
  changed["model.layers.0.self_attn.o_proj.bias"] = {config().width};
  EXPECT_THAT(error(changed), HasSubstr("o_proj.bias\" has no place"));
  changed = shapes;
  changed["model.layers." + std::to_string(config().layers) + ".input_layernorm.weight"] = {1};
  EXPECT_THAT(error(changed), HasSubstr("has no place"));
  EXPECT_THAT(error(shapes, "F64"), HasSubstr("dtype F64, expected F32, BF16 or F16"));
}

}  // namespace
}  // namespace lie
