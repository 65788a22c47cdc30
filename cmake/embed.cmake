# Writes OUTPUT, a C++ file that defines `std::string_view saltus::report::NAME()`: the content of
# INPUT. Run at build time with cmake -P.
file(READ ${INPUT} text)
string(TOLOWER "${text}" lower)
if(lower MATCHES "</(script|style)|<!--")
  message(FATAL_ERROR "${INPUT} cannot stand inside a page: it has a tag that ends or hides a script.")
endif()
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
  "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"report/html.hpp\"

namespace saltus::report {
namespace {
constexpr unsigned char bytes[] = {
${bytes}0};
}

std::string_view ${NAME}() {
  return {reinterpret_cast<const char*>(bytes), sizeof(bytes) - 1};
}

}  // namespace saltus::report
")
