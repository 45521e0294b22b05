#include "miniapps/cli/command_tree.hpp"

int main(int argc, char** argv) {
  return miniapps::cli::run_command_tree(argc, argv);
}
