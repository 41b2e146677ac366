# SPDX-License-Identifier: MIT OR Apache-2.0
# What `make install` lays down below the prefix. Nothing in it names the prefix: the folder can be moved.
include(CMakePackageConfigHelpers)

set(TACHO_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tacho)

if(TARGET tacho)
	install(TARGETS tacho RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
	# Man pages and completion are written by the program itself, from its table of commands.
	set(generated ${PROJECT_BINARY_DIR}/generated)
	install(CODE "
		set(TACHO_PROGRAM \"$<TARGET_FILE:tacho>\")
		set(TACHO_GENERATED \"${generated}\")
		include(\"${PROJECT_SOURCE_DIR}/cmake/generate_pages.cmake\")")
	install(DIRECTORY ${generated}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR}
		FILES_MATCHING PATTERN "*.1")
	install(FILES ${generated}/tacho.bash OPTIONAL RENAME tacho
		DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
	install(FILES ${generated}/tacho.zsh OPTIONAL RENAME _tacho
		DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
	install(FILES ${generated}/tacho.fish OPTIONAL
		DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

if(TARGET libtacho)
	install(TARGETS libtacho EXPORT tacho_targets
		LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
		INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
	set_target_properties(libtacho PROPERTIES EXPORT_NAME tacho)
	install(EXPORT tacho_targets FILE tacho-targets.cmake NAMESPACE tacho::
		DESTINATION ${TACHO_CMAKE_DIR})
	configure_package_config_file(cmake/tacho-config.cmake.in ${PROJECT_BINARY_DIR}/tacho-config.cmake
		INSTALL_DESTINATION ${TACHO_CMAKE_DIR})
	write_basic_package_version_file(${PROJECT_BINARY_DIR}/tacho-config-version.cmake
		COMPATIBILITY SameMinorVersion)
	install(FILES ${PROJECT_BINARY_DIR}/tacho-config.cmake
		${PROJECT_BINARY_DIR}/tacho-config-version.cmake DESTINATION ${TACHO_CMAKE_DIR})
	configure_file(cmake/tacho.pc.in tacho.pc @ONLY)
	install(FILES ${PROJECT_BINARY_DIR}/tacho.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

install(FILES include/tacho/tacho.h include/tacho/tacho.hpp
	${PROJECT_BINARY_DIR}/include/tacho/version.h
	DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tacho)

install(FILES README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE OPTIONAL
	DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
