#include "pilot/base/suggest.hpp"
