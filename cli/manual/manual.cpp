// saltus manual FOLDER: writes the manual pages and the completion scripts. A command of the build,
// which help does not show.
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/manual/pages.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  std::error_code failure;  // told by the file below
  fs::create_directories(path.parent_path(), failure);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw FileError("cannot write " + path.string(), true);
}

// The folders are named as those of an installation, below its `share`.
void write_manual(const CLI::App& program, const fs::path& folder) {
  const ManualPage pages = read_pages(program);
  for (const ManualPage* page : all_pages(pages)) {
    write_text(folder / "man" / "man1" / (page->name("-") + ".1"), roff(*page));
  }
  write_text(folder / "bash-completion" / "completions" / "saltus", bash_completion(pages));
  write_text(folder / "zsh" / "site-functions" / "_saltus", zsh_completion(pages));
  write_text(folder / "fish" / "vendor_completions.d" / "saltus.fish", fish_completion(pages));
}

}  // namespace

void add_manual(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand("manual", "Write manual pages and completion scripts");
  command->group("");  // hidden
  auto folder = std::make_shared<std::string>();
  command->add_option("FOLDER", *folder, "Folder to write them to")->required();
  command->callback([&program, folder] { write_manual(program, *folder); });
}

}  // namespace saltus::cli
