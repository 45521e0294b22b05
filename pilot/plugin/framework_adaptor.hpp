// What a framework adaptor implements.  All of it is pure: same input, same answer; it starts nothing
// and reads nothing but what it is given (inspect() reads the software's folder).  The agents act on
// what it returns.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/model/node.hpp"
#include "pilot/model/pilot_spec.hpp"
#include "pilot/model/service_spec.hpp"
#include "pilot/plugin/software.hpp"
#include "pilot/plugin/topics.hpp"

namespace pilot::plugin {

// One setting of a framework or batch adaptor, for validation, help and documentation.
struct OptionDoc {
  std::string name;           // "controllers"
  std::string default_value;  // "1"
  std::string help;           // "dedicated controllers on the base nodes: 1 or 3"
};

struct PlanInput {
  model::PilotSpec spec;
  model::FrameworkSpec framework;
  std::string pilot_id;                // random hexadecimal, for names and cluster ids that must be unique
  std::vector<model::NodeInfo> nodes;  // in order of their ids; services take ports from free_ports
  Software software;
  std::filesystem::path client_folder;  // where client files shall stand
  std::filesystem::path log_folder;     // logs of services: log_folder / "kafka/broker-2.log"
  std::filesystem::path tools_folder;   // where our own programs stand (pilot-kafka)

  // For a cluster that runs and whose nodes change.
  std::optional<model::ClusterPlan> current;
  std::vector<std::string> draining;  // ids of those nodes that are to be given back
  bool move = true;                   // move data onto new services
  std::string throttle;               // of moving: "50MB/s" for each service, "none"; empty: as measured
  bool as_far_as_possible = false;    // draining nodes go even if not all that they hold finds a place
};

class FrameworkAdaptor {
 public:
  virtual ~FrameworkAdaptor() = default;

  virtual std::string_view name() const = 0;     // "kafka"
  virtual std::string_view summary() const = 0;  // one line for `pilot frameworks list`
  virtual std::vector<OptionDoc> options() const = 0;

  // Refuses what can never work (controllers: 2, a reserved key under config) before anything is
  // started.  Errors: usage, naming the option and the allowed values.
  virtual Result<void> check(const model::FrameworkSpec& framework, const model::PilotSpec& spec) const = 0;

  // The services on the given nodes.  With a current plan: its services stay as they are, on new nodes
  // come more (with ids that were never used), and `resize` says how data move and draining nodes are
  // taken out; services on nodes that are not given any more are left away.
  // Errors: usage (does not fit the nodes), with the numbers.
  virtual Result<model::ClusterPlan> plan(const PlanInput& input) const = 0;

  // The command that does this on a running cluster; none: what this framework keeps has no topics.
  virtual std::optional<model::Command> topic_command(const TopicRequest& /*request*/,
                                                      const model::ClusterPlan& /*cluster*/,
                                                      const std::filesystem::path& /*tools_folder*/) const {
    return std::nullopt;
  }

  virtual InstallRecipe install_recipe() const = 0;

  // The environment variable by which users name their own copy ("KAFKA_HOME").
  virtual std::string_view home_variable() const = 0;

  // Looks at a folder and says what it is.  `java` is the JVM to be used, as found by the caller with
  // its version's first number (17).  Errors: not_found (no such framework there), usage (Java too old).
  virtual Result<Software> inspect(const std::filesystem::path& home, const std::filesystem::path& java,
                                   int java_version) const = 0;
};

}  // namespace pilot::plugin
