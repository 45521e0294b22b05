// How the C functions answer: status, message, no exception across the border.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "miniapps/kernels/kernels.h"

namespace miniapps::kernels {

inline pk_status answer(pk_error* error, pk_status code, std::string_view message) {
  if (error != nullptr) {
    error->code = code;
    const std::size_t length = std::min(message.size(), sizeof(error->message) - 1);
    if (length > 0) std::memcpy(error->message, message.data(), length);
    error->message[length] = '\0';
  }
  return code;
}
inline pk_status answer_ok(pk_error* error) {
  return answer(error, PK_OK, {});
}
inline pk_status answer_invalid(pk_error* error, std::string_view message) {
  return answer(error, PK_INVALID_ARGUMENT, message);
}

// Runs body(), which returns a status; what it throws becomes a status too.
template <typename Body>
pk_status fenced(pk_error* error, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return answer(error, PK_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return answer(error, PK_INTERNAL, e.what());
  } catch (...) {
    return answer(error, PK_INTERNAL, "unknown exception");
  }
}

}  // namespace miniapps::kernels
