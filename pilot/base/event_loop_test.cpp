#include "pilot/base/event_loop.hpp"
