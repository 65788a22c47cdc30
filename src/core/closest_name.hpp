// The name that somebody who mistyped one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace saltus {

// The name that the fewest letters put in, left out, changed or swapped with their neighbour make
// of the word, a third of its letters at most; or one that begins with it. Empty where there is
// none.
std::string closest_name(std::string_view word, const std::vector<std::string>& names);

// ". Did you mean NAME?", or nothing: the end of a message.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

}  // namespace saltus
