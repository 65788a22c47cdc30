#include "cli/run_files.hpp"

#include <unistd.h>

#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/sample.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

// A file that is not there has no draws of another run in it, or a link that leads nowhere.
bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(file, ignored));
}

void check_replaceable(const fs::path& checkpoint, bool overwrite) {
  const fs::path draws = draws_beside(checkpoint);
  std::error_code none;
  if (!is_there(checkpoint) && !is_there(draws)) return;
  if (!overwrite) {
    const bool whole = is_there(checkpoint);
    throw UsageError((whole ? checkpoint : draws).string() +
                     " is there already: name another file, or give " +
                     (whole ? "--resume " + checkpoint.string() + " to continue it, or " : "") +
                     "--overwrite to begin anew");
  }
  // Draws without a checkpoint, or behind a link, are not known to be ours.
  const auto ours = [&](const fs::path& file) {
    return !is_there(file) || fs::is_regular_file(fs::symlink_status(file, none));
  };
  if (!is_there(checkpoint) || !is_checkpoint(checkpoint)) {
    throw UsageError("--overwrite: " + checkpoint.string() + " is not a checkpoint of saltus");
  }
  if (!ours(draws)) throw UsageError("--overwrite: " + draws.string() + " is not a regular file");
}

}  // namespace

void FileRoles::add(Role role) {
  if (!leads()) return;
  if (role.file.empty()) return;
  for (const Role& other : roles_) {
    if (!(role.written || other.written) || !same_file(role.file, other.file)) continue;
    throw UsageError(other.what + " and " + role.what + " are the same file, " +
                     role.file.string());
  }
  roles_.push_back(std::move(role));
}

void FileRoles::reads(const std::string& what, const fs::path& file) {
  std::error_code ignored;
  if (!file.empty() && fs::is_regular_file(file, ignored)) add({what, file, false});
}

void FileRoles::reads(const std::map<std::string, std::string>& model_files) {
  for (const auto& [path, sum] : model_files) reads("a file of the model", path);
}

void FileRoles::writes(const std::string& what, const fs::path& file) {
  if (file.empty()) return;
  check_writable(file);
  add({what, file, true});
}

void FileRoles::saves(const fs::path& checkpoint) {
  if (checkpoint.empty()) return;
  writes("--checkpoint", checkpoint);
  writes("the draws of --checkpoint", draws_beside(checkpoint));
  writes("the lock of --checkpoint", FileLock::path_of(checkpoint));
}

void say_how_to_continue(const std::string& checkpoint, const std::string& command) {
  if (checkpoint.empty()) {
    say(" Give --checkpoint FILE to be able to continue.\n");
  } else {
    say(" Saved in {}. To continue:\n  {}\n", checkpoint, command);
  }
}

bool make_folder(const fs::path& folder, const fs::path& file) {
  std::error_code failure;
  const bool made = fs::create_directories(folder, failure);
  if (failure || !fs::is_directory(folder)) {
    throw FileError("cannot make the folder " + folder.string() + ": " +
                        (failure ? failure.message() : "there is a file of this name"),
                    true);
  }
  check_writable(file);
  return made;
}

RunFiles::RunFiles(const std::string& checkpoint, const std::string& resume, bool overwrite) {
  if (overwrite && checkpoint.empty()) {
    throw UsageError("--overwrite says what happens to --checkpoint FILE: name it");
  }
  const bool goes_on = !resume.empty() && same_file(checkpoint, resume);
  if (!resume.empty()) {
    if (!is_there(resume)) throw FileError("cannot read the checkpoint " + resume, false);
    // What lies in a folder that cannot be written to stays as it is.
    const fs::path folder =
        fs::path(resume).has_parent_path() ? fs::path(resume).parent_path() : ".";
    if (goes_on || ::access(folder.c_str(), W_OK) == 0) lock(resume);
  }
  if (goes_on) remove_abandoned(checkpoint);
  if (checkpoint.empty() || goes_on) return;
  check_writable(checkpoint);
  lock(checkpoint);
  check_replaceable(checkpoint, overwrite);
  remove_abandoned(checkpoint);
}

void RunFiles::lock(const fs::path& file) {
  locks_.push_back(std::make_unique<FileLock>(file));
  if (!locks_.back()->held()) {
    say("saltus: the file system of {} has no locks: see to it that no other run uses it\n",
        file.string());
  }
}

std::string RunFiles::new_checkpoint(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    const fs::path name = folder / ("saltus-" + random_digits().substr(0, 8) + ".checkpoint");
    try {
      check_writable(name);
      if (is_there(name) || is_there(draws_beside(name))) continue;
      lock(name);
      return name.string();
    } catch (const FileError&) {  // the next folder
    }
  }
  throw FileError("no folder can be written to", true);
}

}  // namespace saltus::cli
