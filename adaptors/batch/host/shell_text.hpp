// Putting words of users into shell scripts without letting the shell interpret them.
#pragma once

#include <string>
#include <string_view>

namespace pilot::adaptors::host {

// One word for a POSIX shell that means exactly these characters: plain when it can be, else 'quoted'.
// A name that a variable or function can have.
bool is_shell_name(std::string_view text);

std::string shell_word(std::string_view text);

// One word in which $NAME, ${NAME} and a leading ~ are what they are to a shell, and nothing else is.
std::string shell_path(std::string_view text);

// Control characters can't be passed on in a line of a script, and are never meant.
bool has_control_characters(std::string_view text);

}  // namespace pilot::adaptors::host
