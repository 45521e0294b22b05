#include "pilot/net/tls.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace pilot::net {
namespace {

template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

constexpr long a_year = 366L * 24 * 3600;
constexpr long clock_skew = 24L * 3600;  // nodes whose clocks run behind must accept it too

Error failure(const char* what) {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  ERR_clear_error();
  return make_error(ErrorCode::failed, std::string(what) + ": " + text);
}

std::string content_of(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bool add_extension(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// A certificate without extensions and signature.
Certificate blank_certificate(const std::string& common_name, EVP_PKEY* key) {
  Certificate certificate(X509_new());
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial >> 1);
  X509_set_version(certificate.get(), X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -clock_skew);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), a_year);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1, 0);
  return certificate;
}

Result<TlsIdentity> to_pem(EVP_PKEY* key, X509* certificate) {
  const Bio key_text(BIO_new(BIO_s_mem()));
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_PKCS8PrivateKey(key_text.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      PEM_write_bio_X509(certificate_text.get(), certificate) != 1)
    return failure("cannot write a certificate");
  return TlsIdentity{content_of(key_text), content_of(certificate_text)};
}

}  // namespace

Result<TlsIdentity> make_certificate_authority(const std::string& name) {
  const Key key(EVP_EC_gen("P-256"));
  if (!key) return failure("cannot make a key");
  const Certificate certificate = blank_certificate(name, key.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  if (!add_extension(certificate.get(), certificate.get(), NID_basic_constraints,
                     "critical,CA:TRUE,pathlen:0") ||
      !add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0)
    return failure("cannot make a certificate authority");
  return to_pem(key.get(), certificate.get());
}

Result<TlsIdentity> make_identity(const TlsIdentity& authority, const std::string& address) {
  const Bio key_text(
      BIO_new_mem_buf(authority.private_key.data(), static_cast<int>(authority.private_key.size())));
  const Bio ca_text(
      BIO_new_mem_buf(authority.certificate.data(), static_cast<int>(authority.certificate.size())));
  const Key ca_key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  const Certificate ca(PEM_read_bio_X509(ca_text.get(), nullptr, nullptr, nullptr));
  if (!ca_key || !ca) return failure("cannot read the certificate authority");

  const Key key(EVP_EC_gen("P-256"));
  if (!key) return failure("cannot make a key");
  const Certificate certificate = blank_certificate(address, key.get());
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(ca.get()));
  in6_addr numeric{};
  const bool is_ip = ::inet_pton(AF_INET, address.c_str(), &numeric) == 1 ||
                     ::inet_pton(AF_INET6, address.c_str(), &numeric) == 1;
  const std::string alternative_name = (is_ip ? "IP:" : "DNS:") + address;
  if (!add_extension(certificate.get(), ca.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(certificate.get(), ca.get(), NID_ext_key_usage, "serverAuth,clientAuth") ||
      !add_extension(certificate.get(), ca.get(), NID_subject_alt_name, alternative_name.c_str()) ||
      X509_sign(certificate.get(), ca_key.get(), EVP_sha256()) == 0)
    return failure("cannot make a certificate");
  return to_pem(key.get(), certificate.get());
}

}  // namespace pilot::net
