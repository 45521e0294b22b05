// The adaptors of this program.  Filled once by adaptors/register.cpp, one line per adaptor.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pilot/plugin/batch_adaptor.hpp"
#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::plugin {

class Registry {
 public:
  void add(std::unique_ptr<FrameworkAdaptor> adaptor);
  void add(std::unique_ptr<BatchAdaptor> adaptor);

  // Errors: usage, with the nearest name: "no framework 'kafak'; did you mean 'kafka'?".
  Result<const FrameworkAdaptor*> framework(std::string_view name) const;
  Result<BatchAdaptor*> batch(std::string_view name) const;

  std::vector<const FrameworkAdaptor*> frameworks() const;  // by name
  std::vector<const BatchAdaptor*> batches() const;         // by name

 private:
  std::map<std::string, std::unique_ptr<FrameworkAdaptor>, std::less<>> frameworks_;
  std::map<std::string, std::unique_ptr<BatchAdaptor>, std::less<>> batches_;
};

}  // namespace pilot::plugin
