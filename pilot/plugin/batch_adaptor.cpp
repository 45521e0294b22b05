#include "pilot/plugin/batch_adaptor.hpp"

#include <fmt/format.h>

namespace pilot::plugin {

// Most systems can't.
Result<std::string> BatchAdaptor::job_of(const AllocationRequest&) {
  return std::string();
}

Result<void> BatchAdaptor::can_grow(const AllocationRequest&) {
  return make_error(ErrorCode::usage,
                    fmt::format("the resource '{}' can't make a running job bigger", name()),
                    "without --in-place the nodes come by a job of their own");
}

Result<std::string> BatchAdaptor::ask_to_grow(const AllocationRequest& request) {
  return can_grow(request).error();
}

Result<AllocationStatus> BatchAdaptor::grow(const AllocationRequest& request, const std::string&) {
  return can_grow(request).error();
}

}  // namespace pilot::plugin
