// The files of a command: none that it writes is another one that it uses, or one of another run.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {

// A command names the files that it reads and writes here before it does either. Throws UsageError
// when one that is written is the same file as another, by whatever name or link, and FileError
// when it cannot be written.
class FileRoles {
 public:
  void reads(const std::string& what, const std::filesystem::path& file);
  void reads(const std::map<std::string, std::string>& model_files);  // Model::files
  void writes(const std::string& what, const std::filesystem::path& file);
  // A checkpoint with what belongs to it.
  void saves(const std::filesystem::path& checkpoint);

 private:
  struct Role {
    std::string what;
    std::filesystem::path file;
    bool written;
  };
  void add(Role role);
  std::vector<Role> roles_;
};

// After "Stopped after ...": how to go on from `checkpoint`, by `command`.
void say_how_to_continue(const std::string& checkpoint, const std::string& command);

// Makes a folder that `file`, in it, is to be written to. Returns false when it was there already.
// Throws FileError.
bool make_folder(const std::filesystem::path& folder, const std::filesystem::path& file);

// Where a command saves itself. The names are locked for as long as it lives.
class RunFiles {
 public:
  // `resume` must be there. `checkpoint` must not, unless it is the same file or `overwrite` is
  // true; and a file that is no checkpoint is never replaced. Either may be empty.
  RunFiles(const std::string& checkpoint, const std::string& resume, bool overwrite);

  // A name for what is saved without being told to: new, and locked. The first of the folders that
  // can be written to is taken. Throws FileError.
  std::string new_checkpoint(const std::vector<std::filesystem::path>& folders);
  // Saves a run without --checkpoint that is interrupted, or cannot write what it has made to
  // `out`: in the first of some folders where that is possible. Throws FileError.
  template <class Run>
  void save_somewhere(Run& run, const std::filesystem::path& out) {
    const std::vector<std::filesystem::path> folders = {"", out.parent_path() / "",
                                                        temporary_folder()};
    for (auto from = folders.begin();; ++from) {
      const std::string name = new_checkpoint({from, folders.end()});
      try {
        return run.save_to(name);
      } catch (const FileError&) {  // a disk that is full, say
        if (from + 1 == folders.end()) throw;
      }
    }
  }

 private:
  void lock(const std::filesystem::path& file);
  std::vector<std::unique_ptr<FileLock>> locks_;
};

}  // namespace saltus::cli
