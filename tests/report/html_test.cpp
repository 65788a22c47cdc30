#include "report/html.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace saltus::report {
namespace {

std::string base64_of(const std::string& text) {
  return base64(std::as_bytes(std::span(text)));
}

TEST(Html, EscapesWhatCouldBeMarkup) {
  EXPECT_EQ(escaped("a<b>&\"c\"'d'"), "a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;");
  EXPECT_EQ(escaped("R × ∞"), "R × ∞");
  EXPECT_EQ(escaped(std::string("a\0b\x1b", 4)), "a b ");
  EXPECT_EQ(escaped("two\nlines\t"), "two\nlines ");
  EXPECT_EQ(escaped("a\xE2\x80\xAE"
                    "b"),
            "a b");  // right-to-left override
}

TEST(Html, JsonInAScriptCannotEndIt) {
  const nlohmann::ordered_json json = {{"name", "</script><!-- <script>"}};
  const std::string text = script_json(json);
  EXPECT_EQ(text.find('<'), std::string::npos) << text;
  EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
}

TEST(Html, JsonOfBytesThatAreNoText) {
  const std::string text = script_json({{"name", "a\xff"}});
  EXPECT_EQ(text, "{\"name\":\"a\xef\xbf\xbd\"}");
}

TEST(Html, NumbersThatAreNotFiniteBecomeNull) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(script_json({std::nan(""), infinity, -infinity, 0.1}), "[null,null,null,0.1]");
}

// The examples of RFC 4648, section 10.
TEST(Html, Base64) {
  EXPECT_EQ(base64_of(""), "");
  EXPECT_EQ(base64_of("f"), "Zg==");
  EXPECT_EQ(base64_of("fo"), "Zm8=");
  EXPECT_EQ(base64_of("foo"), "Zm9v");
  EXPECT_EQ(base64_of("foob"), "Zm9vYg==");
  EXPECT_EQ(base64_of("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64_of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64_of("\xff\xfb\xff"), "//v/");
}

}  // namespace
}  // namespace saltus::report
