#include "saltus/io/draw_files.hpp"

#include <gtest/gtest.h>
#include <fstream>

#include <cmath>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"
#include "memory_draws.hpp"
#include "test_files.hpp"

namespace saltus {
namespace {

std::vector<std::string> extensions() {
#ifdef SALTUS_HAVE_NETCDF
  return {".npz", ".csv", ".nc"};
#else
  return {".npz", ".csv"};
#endif
}

DrawsInfo info_of(std::vector<int> shape, int levels, double first, double spacing) {
  DrawsInfo info;
  info.model = "ising";
  info.sampler = "gibbs";
  info.shape = std::move(shape);
  info.levels = levels;
  info.first_value = first;
  info.spacing = spacing;
  info.step_size = 0.25;
  info.exact = false;
  info.attributes = {{"seed", "17"}, {"version", "0.1.0"}, {"note", ""}};
  return info;
}

struct Case {
  std::string name;
  DrawsInfo info;
  int chains;
  std::size_t draws;
};

std::vector<Case> cases() {
  return {{"bits", info_of({5}, 2, 0, 1), 3, 11},
          {"spins", info_of({3, 4}, 2, -1, 2), 2, 7},
          {"many_levels", info_of({2, 2, 2}, 300, 0, 1), 4, 600},
          {"levels_of_a_byte", info_of({3}, 256, 0, 1), 1, 500},
          {"levels_beyond_16_bits", info_of({3}, 65536, -7, 3), 1, 30000},
          {"fractions", info_of({4}, 5, 0.5, 0.1), 2, 9},
          {"one_coordinate", info_of({1}, 2, 0, 1), 2, 3},
          {"wide", info_of({300000}, 3, 0, 1), 2, 4},
          {"several_blocks", info_of({10}, 4, 0, 1), 2, 120000},
          {"no_draws", info_of({4}, 2, 0, 1), 1, 0}};
}

// All draws in blocks that do not divide their number, into rows with room between them.
void expect_same(const MemoryDraws& expected, const Draws& draws) {
  ASSERT_EQ(draws.chains(), expected.chains());
  ASSERT_EQ(draws.draws(), expected.draws());
  ASSERT_EQ(draws.dim(), expected.dim());
  const int rows = expected.dim() > 1000 ? 3 : 1001;
  const RowBuffer<Symbol> buffer(rows, expected.dim());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    for (std::size_t first = 0; first < draws.draws(); first += static_cast<std::size_t>(rows)) {
      Rows<Symbol> x = buffer.view();
      x.rows = std::min(rows, static_cast<int>(draws.draws() - first));
      draws.read_states(chain, first, x);
      std::vector<double> logp(static_cast<std::size_t>(x.rows));
      std::vector<float> acceptance(logp.size());
      draws.read_logp(chain, first, logp);
      draws.read_acceptance(chain, first, acceptance);
      for (std::size_t r = 0; r < logp.size(); ++r) {
        const std::size_t draw = first + r;
        for (int i = 0; i < draws.dim(); ++i) {
          ASSERT_EQ(x[static_cast<int>(r)][i], expected.state(chain, draw, i));
        }
        const double want = expected.logp(chain, draw);
        ASSERT_TRUE(logp[r] == want || (std::isnan(logp[r]) && std::isnan(want)));
        ASSERT_EQ(acceptance[r], expected.acceptance(chain, draw));
      }
    }
  }
}

void expect_same_info(const DrawsInfo& a, const DrawsInfo& b) {
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.sampler, b.sampler);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_EQ(a.first_value, b.first_value);
  EXPECT_EQ(a.spacing, b.spacing);
  EXPECT_EQ(a.step_size, b.step_size);
  EXPECT_EQ(a.exact, b.exact);
  EXPECT_EQ(a.attributes, b.attributes);
}

TEST(DrawFiles, EveryFormatRoundTrips) {
  const TestFolder folder;
  for (const Case& c : cases()) {
    const MemoryDraws draws(c.info, c.chains, c.draws);
    for (const std::string& extension : extensions()) {
      SCOPED_TRACE(c.name + extension);
      const auto path = folder / (c.name + extension);
      write_draws(path, draws);
      const auto read = open_draws(path);
      expect_same(draws, *read);
      if (extension == ".nc") expect_same_info(read->info(), c.info);
      if (extension == ".npz") {
        EXPECT_EQ(read->info().first_value, c.info.first_value);
        EXPECT_EQ(read->info().spacing, c.info.spacing);
        EXPECT_EQ(read->info().step_size, c.info.step_size);
      }
      // What these formats do not say is found in the draws.
      if (extension != ".nc" && c.draws * static_cast<std::size_t>(draws.dim()) > 1000) {
        EXPECT_EQ(read->info().levels, c.info.levels);
      }
    }
  }
  EXPECT_EQ(folder.entries(), static_cast<std::ptrdiff_t>(cases().size() * extensions().size()));
}

TEST(DrawFiles, OneFormatIsWrittenFromAnother) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({3, 4}, 3, -1, 1), 2, 50);
  std::filesystem::path last = folder / "0.npz";
  write_draws(last, draws);
  for (const std::string& extension : extensions()) {
    for (const std::string& again : extensions()) {
      const auto next = folder / (extension.substr(1) + "-to" + again);
      write_draws(next, *open_draws(last));
      expect_same(draws, *open_draws(next));
      last = next;
    }
  }
}

TEST(DrawFiles, ReplacesAnOldFileAndKeepsThePermissionsOfNewOnes) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({5}, 2, 0, 1), 2, 5);
  for (const std::string& extension : extensions()) {
    const auto path = folder / ("a" + extension), plain = folder / "plain";
    fill_file(path, "old");
    fill_file(plain, "");
    write_draws(path, draws);
    expect_same(draws, *open_draws(path));
    EXPECT_EQ(std::filesystem::status(path).permissions(),
              std::filesystem::status(plain).permissions());
  }
}

TEST(DrawFiles, TheSameDrawsGiveTheSameBytes) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({5}, 2, 0, 1), 2, 5);
  for (const char* extension : {".npz", ".csv"}) {
    write_draws(folder / (std::string("a") + extension), draws);
    write_draws(folder / (std::string("b") + extension), draws);
    EXPECT_EQ(content_of(folder / (std::string("a") + extension)),
              content_of(folder / (std::string("b") + extension)));
  }
}

TEST(DrawFiles, OtherExtensionsAreRefusedWithThoseThatWork) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({5}, 2, 0, 1), 2, 5);
  for (const char* name : {"a.txt", "a", "npz", "a.npz.gz"}) {
    std::string why;
    EXPECT_FALSE(can_write_draws(folder / name, &why));
    for (const std::string& extension : extensions()) EXPECT_TRUE(contains(why, extension));
    EXPECT_THROW(write_draws(folder / name, draws), FileError);
    EXPECT_THROW(open_draws(folder / name), FileError);
  }
  for (const std::string& extension : extensions()) {
    EXPECT_TRUE(can_write_draws("a" + extension, nullptr));
  }
  EXPECT_TRUE(can_write_draws("A.NPZ", nullptr));
#ifndef SALTUS_HAVE_NETCDF
  std::string why;
  EXPECT_FALSE(can_write_draws("a.nc", &why));
  EXPECT_TRUE(contains(why, "without netCDF"));
#endif
  EXPECT_EQ(folder.entries(), 0);
}

// Draws of which one block cannot be had.
class FailingDraws final : public Draws {
 public:
  FailingDraws(const Draws& good, std::string where) : good_(good), where_(std::move(where)) {}
  const DrawsInfo& info() const override { return good_.info(); }
  int chains() const override { return good_.chains(); }
  std::size_t draws() const override { return good_.draws(); }
  int dim() const override { return good_.dim(); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    fail("states", chain);
    good_.read_states(chain, first, x);
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    fail("logp", chain);
    good_.read_logp(chain, first, out);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    fail("acceptance", chain);
    good_.read_acceptance(chain, first, out);
  }

 private:
  void fail(const std::string& where, int chain) const {
    if (where == where_ && chain == 1) throw std::bad_alloc();
  }
  const Draws& good_;
  std::string where_;
};

TEST(DrawFiles, AFailureLeavesNoFile) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({5}, 2, 0, 1), 2, 5);
  for (const std::string& extension : extensions()) {
    for (const char* where : {"states", "logp", "acceptance"}) {
      EXPECT_THROW(write_draws(folder / ("a" + extension), FailingDraws(draws, where)),
                   std::bad_alloc);
      EXPECT_EQ(folder.entries(), 0) << extension << " " << where;
    }
  }
}

TEST(DrawFiles, AFailureLeavesTheOldFile) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({5}, 2, 0, 1), 2, 5);
  fill_file(folder / "a.npz", "old");
  EXPECT_THROW(write_draws(folder / "a.npz", FailingDraws(draws, "logp")), std::bad_alloc);
  EXPECT_EQ(content_of(folder / "a.npz"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST(DrawFiles, PlacesThatCannotBeWrittenAreNamed) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({5}, 2, 0, 1), 2, 5);
  std::filesystem::create_directory(folder / "folder.npz");
  for (const char* name : {"missing/a.npz", "missing/a.csv", "folder.npz"}) {
    try {
      write_draws(folder / name, draws);
      ADD_FAILURE() << name;
    } catch (const FileError& error) {
      EXPECT_TRUE(error.writing);
      EXPECT_TRUE(contains(error.what(), (folder / name).string()));
    }
  }
  EXPECT_EQ(folder.entries(), 1);
}

TEST(DrawFiles, FilesThatCannotBeOpenedAreNamed) {
  const TestFolder folder;
  for (const std::string& extension : extensions()) {
    std::filesystem::create_directory(folder / ("folder" + extension));
    for (const char* name : {"missing", "folder"}) {
      try {
        open_draws(folder / (name + extension));
        ADD_FAILURE() << name << extension;
      } catch (const FileError& error) {
        EXPECT_FALSE(error.writing);
        EXPECT_TRUE(contains(error.what(), name + extension));
      }
    }
  }
}

TEST(DrawFiles, FilesOfAnotherKindAreRefused) {
  const TestFolder folder;
  for (const std::string& extension : extensions()) {
    for (const std::string& content :
         {std::string(), std::string("chain\n"), std::string(5000, 'a'), std::string(5000, '\0')}) {
      fill_file(folder / ("a" + extension), content);
      const std::string why = data_error([&] { open_draws(folder / ("a" + extension)); });
      EXPECT_TRUE(contains(why, "a" + extension));
    }
  }
}

void read_all(const std::filesystem::path& path) {
  const auto draws = open_draws(path);
  std::vector<double> logp(draws->draws());
  std::vector<float> acceptance(draws->draws());
  const RowBuffer<Symbol> x(static_cast<int>(draws->draws()), draws->dim());
  for (int chain = 0; chain < draws->chains(); ++chain) {
    draws->read_logp(chain, 0, logp);
    draws->read_acceptance(chain, 0, acceptance);
    draws->read_states(chain, 0, x.view());
  }
}

TEST(DrawFiles, EveryTruncationIsRefused) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({3}, 2, 0, 1), 2, 4);
  for (const std::string& extension : extensions()) {
    const auto path = folder / ("a" + extension), cut = folder / ("cut" + extension);
    write_draws(path, draws);
    const std::string bytes = content_of(path);
    const std::size_t step = extension == ".nc" ? 97 : 1;
    for (std::size_t n = 0; n < bytes.size(); n += step) {
      // Cut text can be a shorter run; it is that when it ends with a whole line of the first
      // chain.
      const bool whole = extension == ".csv" && n > 0 && bytes[n - 1] == '\n' &&
                         bytes.substr(0, n).find("\n1,") == std::string::npos;
      fill_file(cut, bytes.substr(0, n));
      EXPECT_EQ(succeeds([&] { read_all(cut); }), whole) << extension << " cut at " << n;
    }
  }
}

TEST(DrawFiles, SurvivesEveryChangedByte) {
  const TestFolder folder;
  const MemoryDraws draws(info_of({3}, 2, 0, 1), 2, 4);
  for (const char* extension : {".npz", ".csv"}) {
    const auto path = folder / (std::string("a") + extension);
    write_draws(path, draws);
    const std::string bytes = content_of(path);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
        std::string bad = bytes;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        fill_file(path, bad);
        succeeds([&] { read_all(path); });  // either way: no crash, no other exception
      }
    }
  }
}

// ---- .npz from elsewhere

struct Array {
  std::string name;
  NpyType type;
  std::vector<std::uint64_t> shape;
  std::string bytes;
};

void write_npz(const std::filesystem::path& path, const std::vector<Array>& arrays) {
  std::ofstream{path};
  OutputFile out(path, path.string());
  ZipWriter zip(out, 0);
  for (const Array& a : arrays) {
    const std::string header = npy_header(a.type, a.shape);
    zip.begin(a.name + ".npy", header.size() + a.bytes.size());
    zip.append(header + a.bytes);
    zip.end();
  }
  zip.finish();
  out.close();
}

TEST(NpzDraws, TwoDimensionsAreOneChain) {
  const TestFolder folder;
  write_npz(folder / "a.npz", {{"x", NpyType::i1, {3, 2}, {0, 1, 2, 3, 4, 5}}});
  const auto draws = open_draws(folder / "a.npz");
  EXPECT_EQ(draws->chains(), 1);
  EXPECT_EQ(draws->draws(), 3u);
  EXPECT_EQ(draws->dim(), 2);
  EXPECT_EQ(draws->info().levels, 6);
  EXPECT_EQ(draws->info().shape, std::vector<int>{2});
  std::vector<double> logp(3);
  std::vector<float> acceptance(3);
  draws->read_logp(0, 0, logp);
  draws->read_acceptance(0, 0, acceptance);
  EXPECT_TRUE(std::isnan(logp[2]));
  EXPECT_EQ(acceptance[2], 1.0F);
  const RowBuffer<Symbol> x(2, 2);
  draws->read_states(0, 1, x.view());
  EXPECT_EQ(x.view()[1][1], 5);
}

TEST(NpzDraws, ArraysThatDoNotFitAreRefused) {
  const TestFolder folder;
  const auto refusal = [&](const std::vector<Array>& arrays) {
    write_npz(folder / "a.npz", arrays);
    return data_error([&] { open_draws(folder / "a.npz"); });
  };
  const Array x = {"x", NpyType::u1, {2, 3, 1}, std::string(6, '\1')};
  EXPECT_TRUE(
      contains(refusal({{"y", NpyType::u1, {2, 3}, std::string(6, '\1')}}), "no array 'x'"));
  EXPECT_TRUE(contains(refusal({{"x", NpyType::u1, {6}, std::string(6, '\1')}}), "1 dimensions"));
  EXPECT_TRUE(contains(refusal({{"x", NpyType::f4, {1, 1}, std::string(4, '\0')}}), "indices"));
  EXPECT_TRUE(contains(refusal({{"x", NpyType::i1, {1, 1}, "\xff"}}), "-1"));
  EXPECT_TRUE(contains(refusal({{"x", NpyType::u1, {1ull << 60, 0}, ""}}), "empty"));
  EXPECT_TRUE(contains(refusal({{"x", NpyType::u1, {0, 4, 4}, ""}}), "empty"));
  EXPECT_TRUE(contains(refusal({x, {"logp", NpyType::f8, {3, 2}, std::string(48, '\0')}}), "logp"));
  EXPECT_TRUE(
      contains(refusal({x, {"acceptance_rate", NpyType::f4, {6}, std::string(24, '\0')}}), "rate"));
  EXPECT_TRUE(
      contains(refusal({x, {"values", NpyType::f8, {3}, std::string(24, '\0')}}), "values"));
  EXPECT_TRUE(
      contains(refusal({x, {"values", NpyType::f8, {2}, std::string(16, '\0')}}), "spacing"));
  EXPECT_TRUE(contains(refusal({x, {"step_size", NpyType::f8, {0}, ""}}), "step_size"));
  const std::string nan = "\xff\xff\xff\xff\xff\xff\xff\x7f";
  EXPECT_TRUE(contains(refusal({x, {"part", NpyType::f8, {2}, nan + nan}}), "first chain"));
  EXPECT_TRUE(contains(refusal({x, {"part", NpyType::f8, {1}, nan}}), "part"));
  EXPECT_TRUE(contains(refusal({x, {"tempering", NpyType::f8, {1}, nan}}), "no text"));
}

// ---- .csv from elsewhere

const std::string kNames = "chain,draw,logp,acceptance_rate,x0,x1\n";

std::string csv_refusal(const std::string& text) {
  const TestFolder folder;
  fill_file(folder / "a.csv", text);
  return data_error([&] { open_draws(folder / "a.csv"); });
}

TEST(CsvDraws, IsThePlainTextThatItShouldBe) {
  const TestFolder folder;
  write_draws(folder / "a.csv", MemoryDraws(info_of({2}, 3, 0, 1), 1, 4));
  EXPECT_EQ(content_of(folder / "a.csv"), kNames +
                                              "0,0,-0.33333333333333331,0.5,0,1\n"
                                              "0,1,nan,0.333333343,1,2\n"
                                              "0,2,-inf,0.25,2,0\n"
                                              "0,3,-0.76190476190476186,0.200000003,0,1\n");
}

TEST(CsvDraws, OtherLineEndsAndThinnedDrawsAreRead) {
  const TestFolder folder;
  fill_file(folder / "a.csv", "chain,draw,logp,acceptance_rate,x0\r\n0,0,,,1\r\n0,10,-2,0.5,7\r\n");
  const auto draws = open_draws(folder / "a.csv");
  EXPECT_EQ(draws->draws(), 2u);
  EXPECT_EQ(draws->info().levels, 8);
  std::vector<double> logp(2);
  std::vector<float> acceptance(2);
  draws->read_logp(0, 0, logp);
  draws->read_acceptance(0, 0, acceptance);
  EXPECT_TRUE(std::isnan(logp[0]));
  EXPECT_EQ(logp[1], -2);
  EXPECT_EQ(acceptance[0], 1.0F);
}

TEST(CsvDraws, MalformedLinesAreRefusedByNumber) {
  EXPECT_TRUE(contains(csv_refusal("a,b\n"), "line 1"));
  EXPECT_TRUE(contains(csv_refusal("chain,draw,logp,acceptance_rate\n"), "no coordinates"));
  EXPECT_TRUE(contains(csv_refusal("chain,draw,logp,acceptance_rate,x1\n"), "'x0'"));
  const std::string good = kNames + "0,0,-1,1,0,1\n";
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0\n"), "line 3"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0,1,1\n"), "line 3"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0,x\n"), "'x'"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0,-1\n"), "'-1'"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0,65536\n"), "'65536'"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0,1.0\n"), "'1.0'"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,minus,1,0,1\n"), "logp"));
  EXPECT_TRUE(contains(csv_refusal(good + "\n"), "line 3"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,1,-1,1,0,1"), "line 3: the file ends"));
  EXPECT_TRUE(contains(csv_refusal(good + "0,0,-1,1,0,1\n"), "draw 0"));
  EXPECT_TRUE(contains(csv_refusal(good + "2,0,-1,1,0,1\n"), "sorted"));
  EXPECT_TRUE(contains(csv_refusal(kNames + "4000000000,0,-1,1,0,1\n"), "sorted"));
  EXPECT_TRUE(contains(csv_refusal(good + "1,0,-1,1,0,1\n1,1,-1,1,0,1\n"), "chain 1 ends after 2"));
}

}  // namespace
}  // namespace saltus
