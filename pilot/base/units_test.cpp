#include "pilot/base/units.hpp"
