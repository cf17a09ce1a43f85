# Defines llama.cpp's Jinja engine as one target lie::jinja, and LIE_JINJA: whether it was found. LIE_JINJA_DIR names the root
# of your own llama.cpp. By default it is the part that scripts/setup.sh unpacked. Without it everything is built, but only
# chat templates that are known by name are rendered.
set(LIE_JINJA_DIR "${LIE_DEPS_DIR}/jinja-0.3.36" CACHE PATH "llama.cpp's sources, of which common/jinja is used")
set(LIE_JINJA OFF)
set(jinja_home "${LIE_JINJA_DIR}/common")
if(NOT EXISTS "${jinja_home}/jinja/runtime.cpp")
  message(STATUS "Jinja engine not found: chat templates that are not known will be refused. scripts/setup.sh fetches "
                 "it, or set LIE_JINJA_DIR.")
  return()
endif()
set(LIE_JINJA ON)

# The engine includes llama.cpp's JSON wrapper. nlohmann's own type has everything that it uses.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/jinja/json.h" @ONLY CONTENT
  "#pragma once\n#include <nlohmann/json.hpp>\nusing common_json = nlohmann::ordered_json;\n")
add_library(lie_jinja_engine STATIC
  "${jinja_home}/jinja/lexer.cpp" "${jinja_home}/jinja/parser.cpp" "${jinja_home}/jinja/runtime.cpp"
  "${jinja_home}/jinja/string.cpp" "${jinja_home}/jinja/value.cpp" "${jinja_home}/unicode.cpp")
target_include_directories(lie_jinja_engine SYSTEM
  PUBLIC "${PROJECT_BINARY_DIR}/jinja" "${jinja_home}")
target_link_libraries(lie_jinja_engine PUBLIC nlohmann_json::nlohmann_json)
target_compile_options(lie_jinja_engine PRIVATE -w $<$<CONFIG:Release>:-O1>)
add_library(lie::jinja ALIAS lie_jinja_engine)
