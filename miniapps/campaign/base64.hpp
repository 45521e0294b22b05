// Bytes as text, for pictures inside a page (RFC 4648, section 4, with padding).
#pragma once

#include <string>
#include <string_view>

namespace miniapps::campaign {

std::string base64(std::string_view bytes);

}  // namespace miniapps::campaign
