#include "io/bytes/new_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"
#include "test_files.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

class NewFiles : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return folder_ / name; }
  std::ptrdiff_t files() const { return folder_.entries(); }
  TestFolder folder_;
};

TEST_F(NewFiles, ReplaceOnlyWhenKept) {
  replace_file(at("a"), "old");
  {
    const NewFile file(at("a"));
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(content_of(at("a")), "old");
  replace_file(at("a"), "new");
  EXPECT_EQ(content_of(at("a")), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(NewFiles, LeaveNothingWhenWritingFails) {
  replace_file(at("a"), "old");
  EXPECT_THROW(replace_file(at("a"), [](OutputFile&) { throw DataError("no"); }), DataError);
  EXPECT_EQ(content_of(at("a")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(NewFiles, FollowALinkThatTheUserNamed) {
  replace_file(at("real"), "old");
  fs::create_symlink("real", at("link"));
  replace_file(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(content_of(at("real")), "new");
  fs::create_symlink("nowhere", at("dangling"));
  EXPECT_THROW(replace_file(at("dangling"), "x"), FileError);
}

TEST_F(NewFiles, KeepThePermissionsOfTheFileThatTheyReplace) {
  replace_file(at("a"), "old");
  fs::permissions(at("a"), fs::perms::owner_read | fs::perms::owner_write);
  replace_file(at("a"), "new");
  EXPECT_EQ(fs::status(at("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(NewFiles, RefuseWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_THROW(replace_file(at("pipe"), "x"), FileError);
  EXPECT_THROW(replace_file(folder_ / "", "x"), FileError);
  EXPECT_THROW(replace_file("/dev/null", "x"), FileError);
  EXPECT_THROW(replace_file(at("no") / "a", "x"), FileError);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(NewFiles, LongNamesWork) {
  const std::string name(250, 'n');
  replace_file(at(name), "x");
  EXPECT_EQ(content_of(at(name)), "x");
}

TEST_F(NewFiles, AbandonedOnesAreRemovedAndNothingElse) {
  for (const char* name : {".c.0123456789abcdef.tmp", ".c.0123456789abcdeg.tmp", ".c.tmp",
                           ".d.0123456789abcdef.tmp", "c"}) {
    replace_file(at(name), "x");
  }
  remove_abandoned(at("c"));
  EXPECT_FALSE(fs::exists(at(".c.0123456789abcdef.tmp")));
  EXPECT_EQ(files(), 4);
}

TEST_F(NewFiles, ALockKeepsOthersAwayAndGoes) {
  {
    const FileLock lock(at("c"));
    EXPECT_TRUE(lock.held());
    EXPECT_THROW(FileLock(at("c")), FileError);
    EXPECT_NO_THROW(FileLock(at("d")));
  }
  EXPECT_EQ(files(), 0);
  EXPECT_NO_THROW(FileLock(at("c")));
}

TEST_F(NewFiles, ALockThatWasLeftBehindIsTaken) {
  replace_file(at("c.lock"), "saltus lock\n");
  EXPECT_TRUE(FileLock(at("c")).held());
  replace_file(at("d.lock"), "");
  EXPECT_TRUE(FileLock(at("d")).held());
  EXPECT_EQ(files(), 0);
}

TEST_F(NewFiles, ALockTakesNoFileOfSomethingElse) {
  replace_file(at("c.lock"), "my notes on locks");
  EXPECT_THROW(FileLock(at("c")), FileError);
  EXPECT_EQ(content_of(at("c.lock")), "my notes on locks");
  fs::create_symlink("c.lock", at("d.lock"));
  EXPECT_THROW(FileLock(at("d")), FileError);
  fs::create_directory(at("e.lock"));
  EXPECT_THROW(FileLock(at("e")), FileError);
  ASSERT_EQ(::mkfifo(at("f.lock").c_str(), 0600), 0);
  EXPECT_THROW(FileLock(at("f")), FileError);
}

}  // namespace
}  // namespace saltus
