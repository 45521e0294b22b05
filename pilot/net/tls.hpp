// The per-pilot certificate authority for `security: {encrypt: true}` (OpenSSL).  PEM throughout.
#pragma once

#include <string>

#include "pilot/base/result.hpp"

namespace pilot::net {

struct TlsIdentity {
  std::string private_key;  // PKCS#8, "BEGIN PRIVATE KEY" (EC P-256)
  std::string certificate;
};

// A self-signed CA that lives for a year.
Result<TlsIdentity> make_certificate_authority(const std::string& name);

// A key and a certificate for an IP address or host name (also as subject alternative name), signed by
// the CA, for servers and clients.
Result<TlsIdentity> make_identity(const TlsIdentity& authority, const std::string& address);

}  // namespace pilot::net
