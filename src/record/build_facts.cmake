# Writes OUTPUT with the version, the commit and the flags of this build, touching it only when they change.
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(commit STREQUAL "")
  set(commit "unknown")
endif()
if(changes STREQUAL "")
  set(dirty false)
else()
  set(dirty true)
endif()
set(text "#pragma once
namespace bathline::build_facts {
inline constexpr const char* version = \"${VERSION}\";
inline constexpr const char* commit = \"${commit}\";
inline constexpr bool dirty = ${dirty};
inline constexpr const char* compiler = \"${COMPILER}\";
inline constexpr const char* flags = \"${FLAGS}\";
}  // namespace bathline::build_facts
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
