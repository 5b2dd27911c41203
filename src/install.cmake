# Targets of `cmake --install`: the program with its recipes, the analysis scripts, its manual page and shell
# completions, and the library with what another project needs to add its own entries to the catalogues.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(share ${CMAKE_INSTALL_DATADIR}/bathline)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/bathline)

install(TARGETS bathline DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/experiments DESTINATION ${share} FILES_MATCHING
        PATTERN "*.toml" PATTERN "*.csv" PATTERN "*.dat" PATTERN "*.ipynb" PATTERN "*.md" PATTERN "*.png")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/analysis DESTINATION ${share} USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE)
install(FILES README.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The program describes its own command line.
foreach(generated IN ITEMS "man|bathline.1|${CMAKE_INSTALL_MANDIR}/man1"
                           "completion|bathline|${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  string(REPLACE "|" ";" generated "${generated}")
  list(GET generated 0 format)
  list(GET generated 1 file)
  list(GET generated 2 destination)
  install(CODE "
    execute_process(COMMAND ${CMAKE_COMMAND} -E env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
                            BATHLINE_EXPERIMENTS=${PROJECT_SOURCE_DIR}/experiments
                            $<TARGET_FILE:bathline> generate ${format}
                    OUTPUT_FILE ${PROJECT_BINARY_DIR}/generated/${file}.${format} COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${PROJECT_BINARY_DIR}/generated/${file}.${format} DESTINATION ${destination} RENAME ${file})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/src/command_line/zsh_completion
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _bathline)

# Public headers are marked as such (src/README.md lists them); the others are installed because these include them.
install(TARGETS bathline_core bathline_options EXPORT bathline ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/bathline
        FILES_MATCHING PATTERN "*.hpp")
install(EXPORT bathline NAMESPACE bathline:: DESTINATION ${package} FILE bathline-targets.cmake)
set_target_properties(bathline_core PROPERTIES EXPORT_NAME bathline OUTPUT_NAME bathline)

configure_package_config_file(${PROJECT_SOURCE_DIR}/src/bathline-config.cmake.in
  ${PROJECT_BINARY_DIR}/generated/bathline-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/bathline-config-version.cmake
  COMPATIBILITY ExactVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/bathline-config.cmake
              ${PROJECT_BINARY_DIR}/generated/bathline-config-version.cmake DESTINATION ${package})
