# SPDX-License-Identifier: MIT OR Apache-2.0
# Flags shared by everything: tacho_flags for all code, tacho_src_flags for what is under src/.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/archive)

add_library(tacho_flags INTERFACE)
target_include_directories(tacho_flags INTERFACE
	${PROJECT_SOURCE_DIR}/include
	${PROJECT_BINARY_DIR}/include)
target_compile_options(tacho_flags INTERFACE
	-Wall -Wextra -Wshadow -Wvla -Wformat=2
	$<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
	$<$<BOOL:${TACHO_WERROR}>:-Werror>
	# Paths in debug information and __FILE__ do not name the machine they were built on.
	-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=
	-fno-omit-frame-pointer
	-pthread)
target_link_options(tacho_flags INTERFACE -pthread -Wl,--as-needed -Wl,-z,relro -Wl,-z,now)

if(TACHO_SANITIZE)
	target_compile_options(tacho_flags INTERFACE
		-fsanitize=${TACHO_SANITIZE} -fno-sanitize-recover=all)
	target_link_options(tacho_flags INTERFACE -fsanitize=${TACHO_SANITIZE})
endif()
if(TACHO_FUZZ)
	target_compile_options(tacho_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Sources and tests include "module/file.h"; banned calls are compile errors under src/ only.
add_library(tacho_src_flags INTERFACE)
target_link_libraries(tacho_src_flags INTERFACE tacho_flags)
target_include_directories(tacho_src_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(tacho_src_flags INTERFACE _GNU_SOURCE)
