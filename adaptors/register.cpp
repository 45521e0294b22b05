#include "adaptors/register.hpp"

#include "adaptors/batch/host/batch_host.hpp"
#include "adaptors/batch/host/inside_host.hpp"
#include "adaptors/batch/local/local_adaptor.hpp"
#include "adaptors/batch/pbs/pbs_dialect.hpp"
#include "adaptors/batch/slurm/slurm_dialect.hpp"
#include "adaptors/framework/kafka/kafka_adaptor.hpp"

namespace pilot::adaptors {

plugin::Registry all() {
  plugin::Registry registry;
  registry.add(std::make_unique<local::LocalAdaptor>());
  const auto slurm = std::make_shared<slurm::SlurmDialect>();
  const auto pbs = std::make_shared<pbs::PbsDialect>();
  registry.add(std::make_unique<host::BatchHost>(slurm));
  registry.add(std::make_unique<host::BatchHost>(pbs));
  registry.add(std::make_unique<host::InsideHost>(
      std::vector<std::shared_ptr<const host::BatchDialect>>{slurm, pbs}, host::environment_variable));
  registry.add(std::make_unique<kafka::KafkaAdaptor>());
  return registry;
}

}  // namespace pilot::adaptors
