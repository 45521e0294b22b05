#include "miniapps/cli/help_formatter.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace miniapps::cli {
namespace {

constexpr std::size_t column = 34;

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(column); }

  // "INT in [8 - 65536]" and "Excludes: --scans" are for the message of an error.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return {};
    const std::string type = option->get_type_name();
    std::string text = " " + type.substr(0, type.find(':'));
    if (const auto begin = type.find('{'); begin != std::string::npos)
      text = " " + type.substr(begin + 1, type.find('}') - begin - 1);
    if (type.starts_with("HOST:PORT") || type.starts_with("FIRST:LAST")) text = " " + type;
    if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
    return text;
  }

  // In a list of subcommands the first line is enough.
  std::string make_subcommand(const CLI::App* app) const override {
    const std::string about = app->get_description();
    std::string name = "  " + app->get_name();
    name.resize(std::max(name.size() + 2, column), ' ');
    return name + about.substr(0, about.find('\n')) + "\n";
  }

  std::string make_description(const CLI::App* app) const override { return app->get_description() + "\n\n"; }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace miniapps::cli
