#include "pilot/net/tls.hpp"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace pilot::net {
namespace {

X509* parse(const std::string& pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

bool is_signed_by(const std::string& certificate_pem, const std::string& authority_pem) {
  X509* certificate = parse(certificate_pem);
  X509* authority = parse(authority_pem);
  X509_STORE* store = X509_STORE_new();
  X509_STORE_add_cert(store, authority);
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, store, certificate, nullptr);
  const bool good = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  X509_STORE_free(store);
  X509_free(authority);
  X509_free(certificate);
  return good;
}

TEST(Tls, AnIdentityIsSignedByItsAuthorityOnly) {
  const auto mine = make_certificate_authority("pilot demo").value();
  const auto other = make_certificate_authority("pilot other").value();
  const auto identity = make_identity(mine, "127.77.1.2").value();
  EXPECT_TRUE(is_signed_by(identity.certificate, mine.certificate));
  EXPECT_FALSE(is_signed_by(identity.certificate, other.certificate));
}

TEST(Tls, AnIdentityNamesItsAddress) {
  const auto authority = make_certificate_authority("pilot demo").value();
  X509* by_address = parse(make_identity(authority, "127.77.1.2").value().certificate);
  EXPECT_EQ(X509_check_ip_asc(by_address, "127.77.1.2", 0), 1);
  EXPECT_NE(X509_check_ip_asc(by_address, "127.77.1.3", 0), 1);
  X509_free(by_address);
  X509* by_name = parse(make_identity(authority, "node01.cluster").value().certificate);
  EXPECT_EQ(X509_check_host(by_name, "node01.cluster", 0, 0, nullptr), 1);
  X509_free(by_name);
}

TEST(Tls, KeysAreInTheFormThatKafkaReads) {
  const auto identity = make_identity(make_certificate_authority("pilot").value(), "127.0.0.1").value();
  EXPECT_TRUE(identity.private_key.starts_with("-----BEGIN PRIVATE KEY-----")) << "PKCS#8";
}

TEST(Tls, ADamagedAuthorityIsAnError) {
  EXPECT_FALSE(make_identity({"no key", "no certificate"}, "127.0.0.1").has_value());
}

}  // namespace
}  // namespace pilot::net
