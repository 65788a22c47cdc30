// How diverse generated sentences are, and how close to text that people wrote.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "reproduce/text/paper.hpp"
#include "reproduce/text/task.hpp"

namespace saltus::reproduce::text {

// The two corpora, as they are masked and as they are compared with.
struct Corpora {
  std::vector<Words> tbc, wt103;                      // for tasks
  std::vector<Words> tbc_reference, wt103_reference;  // for the measures; the same lines
};
Corpora load_corpora(const std::filesystem::path& folder);

// The sentences that the tasks were made of are left out of the references.
Measures measure(const Corpora& corpora, const std::vector<Task>& tasks,
                 std::vector<Words> generated);

}  // namespace saltus::reproduce::text
