# Compiler settings shared by every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # kernels are also loaded by JVMs and Python

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

option(PILOT_WERROR "Treat compiler warnings as errors" ON)
option(PILOT_USE_FFTW "Measure against FFTW (GPL-2+) in the kernels' benchmark when it is installed" ON)
set(PILOT_SANITIZE "" CACHE STRING "Sanitizers for every target: empty, address (with undefined) or thread")
option(PILOT_FUZZ "Build the fuzz targets with libFuzzer (needs clang); scripts/fuzz does" OFF)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# Aggregates here have default member initialisers, so naming only some members is meant.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers
                    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms in std::string and std::variant (GCC bugs 105651 and 105562); the sanitizers find real ones.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict> $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()
if(CMAKE_UNITY_BUILD)
  # Most of the time goes into what every source instantiates anew, so setup and the suite compile many at once:
  # a third of the time.  GCC then takes the unnamed namespaces of sources for those of headers.
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(PILOT_WERROR)
  add_compile_options(-Werror)
endif()

if(PILOT_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PILOT_FUZZ needs clang (libFuzzer); scripts/fuzz configures it")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()

if(PILOT_SANITIZE STREQUAL "address")
  # Without the checks that test every reference: they double the time of compilation (9.6 s to 5.4 s for a
  # test file), and the address sanitizer sees what comes of them.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,vptr,alignment,object-size
                      -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(PILOT_SANITIZE STREQUAL "thread")
  # GCC warns of each fence in Boost.Asio, which the sanitizer doesn't see; Asio's mutexes it does see.
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  add_link_options(-fsanitize=thread)
elseif(PILOT_SANITIZE)
  message(FATAL_ERROR "PILOT_SANITIZE is '${PILOT_SANITIZE}'; it can be 'address' or 'thread'")
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)
