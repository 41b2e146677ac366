# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests and fuzzers. Each declaration also adds a line to <build>/tests.list, which tools/run-tests
# reads: "unit NAME PATH" or "fuzz NAME PATH".
define_property(GLOBAL PROPERTY TACHO_TEST_LIST)

if(TACHO_SANITIZE STREQUAL "thread")
	set(tacho_tsan_build ON)
else()
	set(tacho_tsan_build OFF)
endif()

add_custom_target(fuzzers)

# tacho_unit_test(NAME [USES module ...] [LIBS dep ...] [SOURCES extra.c ...] [TSAN])
#
# tests/unit/test_NAME.c with tests/unit/unit.c. The thread sanitizer's build holds only those
# marked TSAN: tests in which threads meet.
function(tacho_unit_test NAME)
	cmake_parse_arguments(PARSE_ARGV 1 arg "TSAN" "" "USES;LIBS;SOURCES")
	if(tacho_tsan_build AND NOT arg_TSAN)
		return()
	endif()
	tacho_test_program(unit ${NAME} tests/unit/test_${NAME}
		SOURCES test_${NAME}.c unit.c ${arg_SOURCES} USES ${arg_USES} LIBS ${arg_LIBS})
endfunction()

# tacho_fuzz(NAME [USES module ...] [LIBS dep ...])
#
# tests/fuzz/fuzz_NAME.c, with libFuzzer in the fuzz build, and elsewhere with a main that runs it
# over the files of tests/fuzz/corpus/NAME.
function(tacho_fuzz NAME)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LIBS;SOURCES")
	if(tacho_tsan_build)
		return()
	endif()
	if(TACHO_FUZZ)
		set(main)
	else()
		set(main fuzz_main.c)
	endif()
	tacho_test_program(fuzz ${NAME} tests/fuzz/fuzz_${NAME}
		SOURCES fuzz_${NAME}.c ${main} ${arg_SOURCES} USES ${arg_USES} LIBS ${arg_LIBS})
	add_dependencies(fuzzers fuzz_${NAME})
	if(TACHO_FUZZ)
		target_link_options(fuzz_${NAME} PRIVATE -fsanitize=fuzzer)
	endif()
endfunction()

function(tacho_test_program KIND NAME PATH)
	cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "USES;LIBS;SOURCES")
	get_filename_component(target ${PATH} NAME)
	get_filename_component(folder ${PATH} DIRECTORY)
	add_executable(${target} ${arg_SOURCES})
	set_target_properties(${target} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
	target_link_libraries(${target} PRIVATE tacho_src_flags)
	foreach(module IN LISTS arg_USES)
		target_link_libraries(${target} PRIVATE tacho_${module})
	endforeach()
	foreach(lib IN LISTS arg_LIBS)
		target_link_libraries(${target} PRIVATE tacho_dep_${lib})
	endforeach()
	target_compile_definitions(${target} PRIVATE
		TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TEST_BUILD_DIR="${PROJECT_BINARY_DIR}")
	set_property(GLOBAL APPEND_STRING PROPERTY TACHO_TEST_LIST "${KIND} ${NAME} ${PATH}\n")
endfunction()

# tacho_example(NAME file.c ... [LIBS dep ...])
#
# A program as a user would build it: the public headers, libtacho.so and nothing of src/.
function(tacho_example NAME)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
	if(tacho_tsan_build)
		return()
	endif()
	add_executable(example_${NAME} ${arg_UNPARSED_ARGUMENTS})
	set_target_properties(example_${NAME} PROPERTIES
		OUTPUT_NAME ${NAME}
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
	target_link_libraries(example_${NAME} PRIVATE tacho_flags libtacho)
	foreach(lib IN LISTS arg_LIBS)
		target_link_libraries(example_${NAME} PRIVATE tacho_dep_${lib})
	endforeach()
endfunction()

# tacho_bench(NAME file.c ... [USES module ...] [LIBS dep ...])
#
# A measuring program for tools/run-bench, linked with libtacho.so as well as with the modules.
function(tacho_bench NAME)
	cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LIBS")
	if(TACHO_SANITIZE)
		return()
	endif()
	add_executable(bench_${NAME} ${arg_UNPARSED_ARGUMENTS})
	set_target_properties(bench_${NAME} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
	target_link_libraries(bench_${NAME} PRIVATE tacho_src_flags libtacho)
	foreach(module IN LISTS arg_USES)
		target_link_libraries(bench_${NAME} PRIVATE tacho_${module})
	endforeach()
	foreach(lib IN LISTS arg_LIBS)
		target_link_libraries(bench_${NAME} PRIVATE tacho_dep_${lib})
	endforeach()
endfunction()

function(tacho_write_test_list)
	get_property(list GLOBAL PROPERTY TACHO_TEST_LIST)
	file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests.list CONTENT "${list}")
endfunction()
