// Parameters given as text, turned into values; what does not fit is a UsageError that names it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "saltus/core/domain.hpp"

namespace saltus {

using Settings = std::map<std::string, std::string>;  // parameter -> value

std::optional<std::string> find_setting(const Settings& settings, const std::string& key);
std::optional<double> number_setting(const Settings& settings, const std::string& key);
std::optional<int> integer_setting(const Settings& settings, const std::string& key);
std::optional<bool> switch_setting(const Settings& settings, const std::string& key);
// The place of the value among `choices`; the first one when it is not given.
int choice_setting(const Settings& settings, const std::string& key,
                   const std::vector<std::string>& choices);
// Numbers separated by commas, blanks or line ends.
std::vector<double> list_setting(const Settings& settings, const std::string& key);

// The window: 1 where none is given and the levels are unbounded, otherwise 0.
int window_setting(const Settings& settings, const Domain& domain);
// Throws UsageError for a reach of moves on ordered levels that makes no sense on this domain. 0:
// no window.
void check_window(const Domain& domain, int window);

// The same settings with the contents of files in place of their names, so that they stand on their
// own in a checkpoint.
Settings with_files_read(Settings settings);

}  // namespace saltus
