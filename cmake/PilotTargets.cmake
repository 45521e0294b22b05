# The four shapes of target in this tree.  Every folder is one library named after its path
# (pilot/base -> pilot_base, alias pilot::base) and, where *_test.cpp files stand beside the code,
# one test program of the same name with the suffix _test.

# pilot_library(NAME [SOURCES ...] [DEPS ...] [PRIVATE_DEPS ...] [TESTS ...] [TEST_DEPS ...] [LABEL unit])
function(pilot_library name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;DEPS;PRIVATE_DEPS;TESTS;TEST_DEPS" ${ARGN})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${arg_DEPS})
  endif()
  if(arg_TESTS)
    if(NOT arg_LABEL)
      set(arg_LABEL unit)
    endif()
    pilot_gtest(${name}_test LABEL ${arg_LABEL} SOURCES ${arg_TESTS}
                DEPS ${name} ${arg_PRIVATE_DEPS} ${arg_TEST_DEPS})
  endif()
endfunction()

# pilot_has_librdkafka(LIBRARY): its programs have librdkafka's threads inside, which the thread sanitizer has to
# be told of; see the file.
if(PILOT_SANITIZE STREQUAL "thread")
  add_library(pilot_tsan_c11_threads OBJECT ${PROJECT_SOURCE_DIR}/cmake/tsan_c11_threads.c)
endif()
function(pilot_has_librdkafka name)
  if(TARGET pilot_tsan_c11_threads)
    target_sources(${name} INTERFACE $<TARGET_OBJECTS:pilot_tsan_c11_threads>)
  endif()
endfunction()

# pilot_program(NAME SOURCES ... [DEPS ...]): an installed executable
function(pilot_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# Seconds after which a test that hangs is ended.  Only that: a busy machine takes many times as long as an
# idle one, and a test that minds the time measures it itself.
set(PILOT_TEST_TIMEOUT 600)
if(CMAKE_CROSSCOMPILING)
  set(PILOT_TEST_TIMEOUT 1200)  # an emulator runs it
endif()

# Tests are not part of `all`: setup builds what is installed, scripts/test adds all_<label>_tests.
foreach(label unit contract integration e2e)
  add_custom_target(all_${label}_tests)
endforeach()
add_custom_target(all_fuzzers)

# pilot_gtest(NAME LABEL unit|contract|integration|e2e SOURCES ... [DEPS ...]): a GoogleTest program,
# each case registered with CTest under the label.  `all_<label>_tests` builds those of one label.
function(pilot_gtest name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE PILOT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             PILOT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  # The optimiser took half of the time that tests take to compile; what they test keeps its own flags.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${PILOT_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1>>)
  add_dependencies(all_${arg_LABEL}_tests ${name})
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${PILOT_TEST_TIMEOUT})
endfunction()

# pilot_fuzzer(NAME SOURCES x_fuzz.cpp [DEPS ...] [CORPUS folder]): one LLVMFuzzerTestOneInput.
# With PILOT_FUZZ it becomes a libFuzzer program (scripts/fuzz runs it for minutes).  Otherwise the same
# source is a unit test: fuzz_driver.cpp feeds it the corpus and a fixed series of mutations of it.
function(pilot_fuzzer name)
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;DEPS" ${ARGN})
  if(arg_CORPUS)
    cmake_path(ABSOLUTE_PATH arg_CORPUS)
  endif()
  if(PILOT_FUZZ)
    add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzzers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/fuzzers/${name}.corpus CONTENT "${arg_CORPUS}")
    set(group all_fuzzers)
  else()
    add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/fuzz_driver.cpp)
    add_test(NAME fuzz.${name} COMMAND ${name} ${arg_CORPUS})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS unit TIMEOUT ${PILOT_TEST_TIMEOUT})
    set(group all_unit_tests)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  add_dependencies(${group} ${name})
endfunction()
