# SPDX-License-Identifier: MIT OR Apache-2.0
# tacho_module(NAME file.c ... [USES module ...] [LIBS dep ...])
#
# Declares src/NAME as the archive tacho_NAME. USES are modules of ours, LIBS are the dependencies of
# cmake/tacho_deps.cmake; both are passed on to whoever links the module. A module that has no
# source yet is an empty one.
function(tacho_module NAME)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LIBS")
	set(scope PUBLIC)
	if(arg_UNPARSED_ARGUMENTS)
		add_library(tacho_${NAME} STATIC ${arg_UNPARSED_ARGUMENTS})
		target_link_libraries(tacho_${NAME} PUBLIC tacho_src_flags)
		tacho_ban_calls(tacho_${NAME})
	else()
		add_library(tacho_${NAME} INTERFACE)
		set(scope INTERFACE)
	endif()
	foreach(module IN LISTS arg_USES)
		target_link_libraries(tacho_${NAME} ${scope} tacho_${module})
	endforeach()
	foreach(lib IN LISTS arg_LIBS)
		target_link_libraries(tacho_${NAME} ${scope} tacho_dep_${lib})
	endforeach()
endfunction()

function(tacho_ban_calls TARGET)
	target_compile_options(${TARGET} PRIVATE
		"$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/base/banned.h>")
	# Every source starts with this file, so all of them follow it.
	get_target_property(sources ${TARGET} SOURCES)
	set_source_files_properties(${sources} PROPERTIES
		OBJECT_DEPENDS ${PROJECT_SOURCE_DIR}/src/base/banned.h)
endfunction()

# tacho_foreign_library(NAME MAP version_script SOURCES file.c ... [BORROWS module/file.c ...])
#
# A library that enters a process that is not ours: lib/lib<NAME>.so.0. It needs libc and nothing else.
# BORROWS names every file of other modules that goes with it: the list is what to audit, and a
# call into anything outside it fails to link.
function(tacho_foreign_library NAME)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAP" "SOURCES;BORROWS")
	list(TRANSFORM arg_BORROWS PREPEND ${PROJECT_SOURCE_DIR}/src/)
	set(target lib${NAME})
	add_library(${target} SHARED ${arg_SOURCES} ${arg_BORROWS})
	set_target_properties(${target} PROPERTIES
		OUTPUT_NAME ${NAME}
		SOVERSION ${TACHO_SOVERSION}
		VERSION ${PROJECT_VERSION}
		# libtacho.so.0 is the name that loaders look for, whatever the build folder is called.
		BUILD_WITH_INSTALL_RPATH ON)
	target_link_libraries(${target} PRIVATE tacho_src_flags)
	tacho_ban_calls(${target})
	target_compile_options(${target} PRIVATE
		-ftls-model=initial-exec -ffunction-sections -fdata-sections)
	target_link_options(${target} PRIVATE -Wl,--gc-sections)
	if(NOT TACHO_SANITIZE)
		target_link_options(${target} PRIVATE -Wl,-z,defs)
	endif()
	if(arg_MAP AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_MAP})
		set(map ${CMAKE_CURRENT_SOURCE_DIR}/${arg_MAP})
		target_link_options(${target} PRIVATE -Wl,--version-script=${map})
		set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
	endif()
endfunction()
