#include "pilot/net/curve.hpp"

#include <zmq.h>

#include <stdexcept>

namespace pilot::net {

CurveKeyPair make_curve_key_pair() {
  char public_key[41];
  char secret_key[41];
  // Fails only where libzmq was built without CURVE, which no distribution does.
  if (zmq_curve_keypair(public_key, secret_key) != 0)
    throw std::runtime_error("this ZeroMQ library has no CURVE encryption");
  return {std::string(public_key, 40), std::string(secret_key, 40)};
}

}  // namespace pilot::net
