# SPDX-License-Identifier: MIT OR Apache-2.0
# Foreign libraries, each as tacho_dep_NAME; a module asks for one with LIBS NAME.
function(tacho_dep NAME HEADER LIBRARY)
	if(TACHO_STATIC_DEPS)
		find_library(TACHO_${NAME}_LIBRARY NAMES lib${LIBRARY}.a REQUIRED)
	else()
		find_library(TACHO_${NAME}_LIBRARY NAMES ${LIBRARY} REQUIRED)
	endif()
	find_path(TACHO_${NAME}_INCLUDE NAMES ${HEADER} REQUIRED)
	mark_as_advanced(TACHO_${NAME}_LIBRARY TACHO_${NAME}_INCLUDE)
	add_library(tacho_dep_${NAME} INTERFACE)
	target_link_libraries(tacho_dep_${NAME} INTERFACE ${TACHO_${NAME}_LIBRARY})
	if(NOT TACHO_${NAME}_INCLUDE STREQUAL "/usr/include")
		target_include_directories(tacho_dep_${NAME} SYSTEM INTERFACE ${TACHO_${NAME}_INCLUDE})
	endif()
endfunction()

tacho_dep(zstd zstd.h zstd)
tacho_dep(xxhash xxhash.h xxhash)

add_library(tacho_dep_m INTERFACE)
target_link_libraries(tacho_dep_m INTERFACE m)
add_library(tacho_dep_dl INTERFACE)
target_link_libraries(tacho_dep_dl INTERFACE ${CMAKE_DL_LIBS})
