#include "tools/cluster/probe.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>
#include <vector>

#include "common/base/error.h"
#include "common/process/program.h"
#include "model/operators/probe.h"
#include "tools/cluster/commands.h"
#include "tools/run/config/devices.h"

namespace lie {
namespace {

/// Returns the devices that a name stands for: "cuda" is every GPU of this host. If there is none,
/// the name stays, so that the operators say why.
std::vector<std::string> devices_of(const std::string& name) {
  if (name != "cuda" && name != "cuda-exact") return {name};
  std::vector<std::string> all;
  ModelOptions model;
  model.device = name;
  for (int gpu = 0; gpu < shared_gpus(model); ++gpu) all.push_back(fmt::format("{}:{}", name, gpu));
  return all.empty() ? std::vector{name} : all;
}

}  // namespace

void probe_devices(const std::string& device, std::ostream& out) {
  const std::vector<std::string> devices = devices_of(device);
  std::size_t failed = 0;
  for (const std::string& name : devices) {
    try {
      ModelOptions model;
      model.device = name;
      const auto operators = make_operators(model, 1);
      probe(*operators);
      out << name << ": passed\n";
    } catch (const std::exception& error) {
      if (devices.size() == 1) throw;
      out << name << ": failed: " << error.what() << '\n';
      ++failed;
    }
  }
  flush_output(out);
  if (failed > 0) fail("{} of {} GPUs of this host failed", failed, devices.size());
}

void add_probe(CLI::App& program, ProcessCommand& chosen) {
  const auto device = std::make_shared<std::string>("cuda");
  CLI::App* command = program.add_subcommand(
      "probe",
      "Run a matmul and a norm on each GPU of this host and compare the results with the exact "
      "ones. Exit status 0: all passed; 1: a GPU failed, or this build or host has none");
  command->add_option("--device", *device,
                      "model.device to probe: cuda for all GPUs, cuda:<number> for one, cpu, "
                      "cpu-bf16 [cuda]");
  command->callback([&chosen, device] { chosen = [=] { probe_devices(*device, std::cout); }; });
}

}  // namespace lie
