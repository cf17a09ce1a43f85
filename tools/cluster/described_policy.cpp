#include "tools/cluster/described_policy.h"

#include <iostream>

#include "tools/cluster/commands.h"
#include "tools/run/config/devices.h"
#include "tools/run/config/policy_config.h"

namespace lie {

Transformer described_policy(const ModelOptions& options, Operators& operators) {
  const PolicyFiles files = policy_files(options);
  check_base(files);
  for (const std::string& remark : adapter_remarks(files)) print_warning(remark);
  Transformer policy = Transformer::fixed(options.path, operators, options.adapter);
  describe_policy(options, policy.packed_size(), std::cerr);
  return policy;
}

}  // namespace lie
