#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "adaptors/framework/kafka/protocol/stream.hpp"

namespace pilot::adaptors::kafka::protocol {

namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

std::string reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* words = code == 0 ? nullptr : ERR_reason_error_string(code);
  return words == nullptr ? "the connection was closed" : words;
}

class TlsStream final : public Stream {
 public:
  TlsStream(int socket, std::unique_ptr<SSL_CTX, Free> context)
      : socket_(socket), context_(std::move(context)), ssl_(SSL_new(context_.get())) {
    SSL_set_fd(ssl_.get(), socket_);
  }
  ~TlsStream() override {
    ssl_.reset();
    ::close(socket_);
  }

  Result<void> shake_hands(const Endpoint& endpoint, bool check_host, const Deadline& deadline) {
    in6_addr binary{};
    const bool is_address = ::inet_pton(AF_INET, endpoint.host.c_str(), &binary) == 1 ||
                            ::inet_pton(AF_INET6, endpoint.host.c_str(), &binary) == 1;
    if (!is_address) SSL_set_tlsext_host_name(ssl_.get(), endpoint.host.c_str());
    if (check_host && is_address)
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), endpoint.host.c_str());
    if (check_host && !is_address) SSL_set1_host(ssl_.get(), endpoint.host.c_str());
    const auto done = step([&] { return SSL_connect(ssl_.get()); }, deadline);
    if (done.has_value()) return ok();
    if (const auto verified = SSL_get_verify_result(ssl_.get()); verified != X509_V_OK) {
      return make_error(
          ErrorCode::failed,
          fmt::format("the broker's certificate is refused: {}", X509_verify_cert_error_string(verified)),
          "'ssl.ca.location' has to name the authority that signed it");
    }
    return done.error().while_doing("TLS");
  }

  Result<void> write(std::string_view bytes, const Deadline& deadline) override {
    while (!bytes.empty()) {
      const auto part = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20));
      PILOT_TRY(const int sent, step([&] { return SSL_write(ssl_.get(), bytes.data(), part); }, deadline));
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return ok();
  }

  Result<std::string> read(std::size_t bytes, const Deadline& deadline) override {
    std::string data(bytes, '\0');
    for (std::size_t have = 0; have < bytes;) {
      const auto part = static_cast<int>(std::min<std::size_t>(bytes - have, 1 << 20));
      PILOT_TRY(const int got,
                step([&] { return SSL_read(ssl_.get(), data.data() + have, part); }, deadline));
      have += static_cast<std::size_t>(got);
    }
    return data;
  }

 private:
  // Repeats a call while it waits for the socket.  Answers what it returned, above zero.
  template <typename Call>
  Result<int> step(Call call, const Deadline& deadline) {
    while (true) {
      ERR_clear_error();
      const int done = call();
      if (done > 0) return done;
      const int error = SSL_get_error(ssl_.get(), done);
      if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) {
        PILOT_TRY_VOID(wait_for(socket_, error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline));
      } else {
        return make_error(error == SSL_ERROR_SSL ? ErrorCode::failed : ErrorCode::unavailable, reason());
      }
    }
  }

  int socket_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace

Result<std::unique_ptr<Stream>> open_tls(int socket, const Endpoint& endpoint, const Access& access,
                                         const Deadline& deadline) {
  std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // Brokers close without a farewell, and messages carry their length.
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(access.ca, ignored);
  const bool loaded = access.ca.empty() ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                      : folder          ? SSL_CTX_load_verify_dir(context.get(), access.ca.c_str()) == 1
                                        : SSL_CTX_load_verify_file(context.get(), access.ca.c_str()) == 1;
  auto stream = std::make_unique<TlsStream>(socket, std::move(context));
  if (!loaded) {
    return make_error(ErrorCode::usage,
                      fmt::format("cannot read the certificates of '{}': {}", access.ca, reason()));
  }
  PILOT_TRY_VOID(stream->shake_hands(endpoint, access.check_host, deadline));
  return std::unique_ptr<Stream>(std::move(stream));
}

}  // namespace pilot::adaptors::kafka::protocol
