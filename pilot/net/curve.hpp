// CURVE keys of the control plane.  Each side proves that it holds the secret key of a public key that
// the other side was given through the pilot's folder (0700), so only this user's agents and commands
// of this very pilot can speak to each other.
#pragma once

#include <string>

#include "pilot/base/result.hpp"

namespace pilot::net {

struct CurveKeyPair {
  std::string public_key;  // 40 characters, Z85
  std::string secret_key;  // 40 characters, Z85
};

CurveKeyPair make_curve_key_pair();

}  // namespace pilot::net
