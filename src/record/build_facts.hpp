// What the program was built from.
#pragma once

#include <string>

namespace bathline::build_facts {

// Of the generated build_facts.cpp, so that a new commit compiles that file alone.
extern const char* const version;
extern const char* const commit;  ///< "unknown" outside of a repository
extern const bool dirty;          ///< whether files of the repository were changed
extern const char* const compiler;
extern const char* const flags;

/// The hash of the machine code and of all constants, which the linker computed (option --build-id): that of the
/// program, and behind "+" that of the library if this code is in a shared one. In hexadecimal digits; empty if the
/// linker stored none.
std::string build_id();

}  // namespace bathline::build_facts
