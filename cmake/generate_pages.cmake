# SPDX-License-Identifier: MIT OR Apache-2.0
# Runs at install: asks TACHO_PROGRAM for its man pages and completions and puts them into
# TACHO_GENERATED. When the program cannot run here (cross compiling) they are left out.
function(tacho_ask FILE)
	execute_process(COMMAND "${TACHO_PROGRAM}" ${ARGN}
		OUTPUT_FILE "${FILE}.part" ERROR_QUIET RESULT_VARIABLE result)
	if(result EQUAL 0)
		file(RENAME "${FILE}.part" "${FILE}")
	else()
		file(REMOVE "${FILE}.part")
		list(JOIN ARGN " " words)
		message(STATUS "left out: tacho ${words} did not run (${result})")
	endif()
endfunction()

file(REMOVE_RECURSE "${TACHO_GENERATED}")
file(MAKE_DIRECTORY "${TACHO_GENERATED}/man1")
execute_process(COMMAND "${TACHO_PROGRAM}" help --list
	OUTPUT_VARIABLE commands ERROR_QUIET RESULT_VARIABLE result)
if(NOT result EQUAL 0)
	message(STATUS "left out: man pages and completion, since tacho does not run here")
	return()
endif()
string(REGEX MATCHALL "[^\n]+" commands "${commands}")
tacho_ask("${TACHO_GENERATED}/man1/tacho.1" help --man)
foreach(command IN LISTS commands)
	tacho_ask("${TACHO_GENERATED}/man1/tacho-${command}.1" help --man ${command})
endforeach()
foreach(shell bash zsh fish)
	tacho_ask("${TACHO_GENERATED}/tacho.${shell}" help --completion ${shell})
endforeach()
