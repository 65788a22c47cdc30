# Pages with charts: Chart.js as the system's package has it, and the page's own style and script,
# embedded into the library.
find_file(SALTUS_CHART_JS NAMES chart.min.js
  PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist /usr/local/share/javascript/chart.js
  NO_DEFAULT_PATH)
if(NOT SALTUS_CHART_JS)
  message(FATAL_ERROR "Chart.js (chart.min.js) is missing: install libjs-chart.js, set SALTUS_CHART_JS "
    "to the file, or build without pages (-DSALTUS_PAGES=OFF).")
endif()
file(STRINGS ${SALTUS_CHART_JS} chart_js_banner LIMIT_COUNT 4 REGEX "Chart\\.js v")
if(NOT chart_js_banner MATCHES "Chart\\.js v(3\\.[0-9.]+)")
  message(FATAL_ERROR "${SALTUS_CHART_JS} is not Chart.js 3, which the pages are written for.")
endif()
set(chart_js_version ${CMAKE_MATCH_1})

function(saltus_embed name input)
  set(output ${PROJECT_BINARY_DIR}/report/${name}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DINPUT=${input} -DOUTPUT=${output}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${input} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding ${input}" VERBATIM)
  target_sources(saltus PRIVATE ${output})
endfunction()

saltus_embed(chart_js ${SALTUS_CHART_JS})
saltus_embed(page_css ${PROJECT_SOURCE_DIR}/src/report/page.css)
saltus_embed(page_js ${PROJECT_SOURCE_DIR}/src/report/page.js)
target_compile_definitions(saltus PRIVATE SALTUS_HAVE_PAGES
  SALTUS_CHART_JS_VERSION="${chart_js_version}")
