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
set(text "#include \"record/build_facts.hpp\"
namespace bathline::build_facts {
const char* const version = \"${VERSION}\";
const char* const commit = \"${commit}\";
const bool dirty = ${dirty};
const char* const compiler = \"${COMPILER}\";
const char* const flags = \"${FLAGS}\";
}  // namespace bathline::build_facts
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
