#include "pilot/base/file.hpp"
