// Installed frameworks: where they are, and how one is installed.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pilot/base/result.hpp"
#include "pilot/core/context.hpp"
#include "pilot/plugin/framework_adaptor.hpp"

namespace pilot::core {

// Where `frameworks install` puts a framework unless it is told otherwise: $PILOT_SOFTWARE (a software
// folder that a cluster's users share), else $XDG_CACHE_HOME/pilot.
std::filesystem::path software_prefix();

// PREFIX/frameworks/kafka-4.3.1
std::filesystem::path install_folder(const std::filesystem::path& prefix,
                                     const plugin::InstallRecipe& recipe);

// The copy to be used: the user's own ($KAFKA_HOME), else one installed in $PILOT_SOFTWARE or the cache, of
// the recipe's version if there is one.  Errors: usage (the variable names no such software; Java is too
// old), not_found (not installed, with the command; Java is missing).
Result<plugin::Software> locate_software(const plugin::FrameworkAdaptor& adaptor);

// Runs the adaptor's recipe; its lines are noted by the observer.  Installing what is there is quick.
// Errors: failed, with the recipe's last words; usage, when interrupted: it goes on where it was.
Result<plugin::Software> install_software(const Context& context, const plugin::FrameworkAdaptor& adaptor,
                                          const std::filesystem::path& prefix);

}  // namespace pilot::core
