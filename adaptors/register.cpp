#include "adaptors/register.hpp"

#include "adaptors/batch/host/batch_host.hpp"
#include "adaptors/batch/local/local_adaptor.hpp"
#include "adaptors/batch/pbs/pbs_dialect.hpp"
#include "adaptors/batch/slurm/slurm_dialect.hpp"
#include "adaptors/framework/kafka/kafka_adaptor.hpp"

namespace pilot::adaptors {

plugin::Registry all() {
  plugin::Registry registry;
  registry.add(std::make_unique<local::LocalAdaptor>());
  registry.add(std::make_unique<host::BatchHost>(std::make_unique<slurm::SlurmDialect>()));
  registry.add(std::make_unique<host::BatchHost>(std::make_unique<pbs::PbsDialect>()));
  registry.add(std::make_unique<kafka::KafkaAdaptor>());
  return registry;
}

}  // namespace pilot::adaptors
