// The look of --help: descriptions with examples first, options without CLI11's internals.
#pragma once

#include <memory>

namespace CLI {
class FormatterBase;
}

namespace miniapps::cli {

std::shared_ptr<CLI::FormatterBase> make_help_formatter();

}  // namespace miniapps::cli
