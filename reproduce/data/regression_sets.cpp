#include "reproduce/data/regression_sets.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "io/bytes/gzip.hpp"
#include "io/bytes/zip.hpp"
#include "reproduce/data/data_folder.hpp"
#include "reproduce/data/regression_table.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// What the published files give.
struct Expected {
  std::size_t read_train, read_test;  // rows in the files
  int train, test, features;          // of the set
};
constexpr Expected kCompas = {7214, 0, 4887, 1235, 13};
constexpr Expected kAdult = {32561, 16281, 29860, 15060, 88};
constexpr Expected kNews = {39644, 0, 31397, 7929, 58};
constexpr Expected kBlog = {52397, 7624, 46814, 7027, 276};

void check_read(const fs::path& path, std::size_t read, std::size_t published) {
  if (read == published) return;
  throw DataError(fmt::format("'{}' cannot be used: it has {} rows where {} are published.",
                              path.string(), read, published));
}

// The last defence against a file that has the right size and another content.
RegressionSet checked(RegressionSet set, const fs::path& path, const Expected& expected) {
  if (set.train.rows() != expected.train || set.test.rows() != expected.test ||
      set.train.features != expected.features) {
    throw DataError(
        fmt::format("'{}' cannot be used: it gives {} rows to learn from, {} to test and {} "
                    "features, where the published one gives {}, {} and {}.",
                    path.string(), set.train.rows(), set.test.rows(), set.train.features,
                    expected.train, expected.test, expected.features));
  }
  return set;
}

CsvReader open_csv(const fs::path& path) {
  return CsvReader(open_maybe_packed(path), path.string());
}

RegressionSet load_compas(const fs::path& folder) {
  const fs::path path = find_data_file("compas", "compas-scores-two-years.csv", folder);
  CsvReader in = open_csv(path);
  RowsRead read;
  RegressionTable table = compas_table(in, read);
  check_read(path, read.train, kCompas.read_train);
  return checked(prepare("compas", std::move(table)), path, kCompas);
}

RegressionSet load_adult(const fs::path& folder) {
  const fs::path train_path = find_data_file("adult", "adult.data", folder);
  const fs::path test_path = find_data_file("adult", "adult.test", folder);
  CsvReader train = open_csv(train_path), test = open_csv(test_path);
  RowsRead read;
  RegressionTable table = adult_table(train, test, read);
  check_read(train_path, read.train, kAdult.read_train);
  check_read(test_path, read.test, kAdult.read_test);
  return checked(prepare("adult", std::move(table)), train_path, kAdult);
}

RegressionSet load_news(const fs::path& folder) {
  const auto whole = look_for_data_file("news", "OnlineNewsPopularity.csv", folder);
  const fs::path path =
      whole ? *whole : find_data_file("news", "OnlineNewsPopularity_subset.csv", folder);
  CsvReader in = open_csv(path);
  RowsRead read;
  RegressionTable table = news_table(in, read);
  if (whole || read.train > kNews.read_train) check_read(path, read.train, kNews.read_train);
  RegressionSet set = prepare("news", std::move(table));
  if (whole) return checked(std::move(set), path, kNews);
  if (read.train < kNews.read_train) {
    set.notes.push_back(fmt::format("A subset of the data set news: {} of its {} rows.", read.train,
                                    kNews.read_train));
  }
  return set;
}

// The rows of train, then those of all tests, by name.
template <class Open>
void add_blog(const std::string& train_name, std::vector<std::string> tests, Open open,
              BlogTable& table) {
  CsvReader train = open(train_name);
  table.add_train(train);
  std::sort(tests.begin(), tests.end());
  for (const std::string& name : tests) {
    CsvReader test = open(name);
    table.add_test(test);
  }
}

void add_blog_archive(const fs::path& path, BlogTable& table) {
  const ZipReader zip(std::make_shared<const InputFile>(path));
  std::vector<std::string> tests;
  for (const ZipMember& member : zip.members()) {
    if (member.name.starts_with("blogData_test-")) tests.push_back(member.name);
  }
  const auto open = [&](const std::string& member) {
    return CsvReader(zip.open(member), fmt::format("{}, {}", path.string(), member));
  };
  add_blog("blogData_train.csv", std::move(tests), open, table);
}

void add_blog_files(const fs::path& train, BlogTable& table) {
  std::vector<std::string> tests;
  std::error_code ignored;  // a folder that cannot be listed: the rows to test are missing
  for (const auto& entry : fs::directory_iterator(train.parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with("blogData_test-")) {
      tests.push_back(entry.path().string());
    }
  }
  add_blog(train.string(), std::move(tests), open_csv, table);
}

RegressionSet load_blog(const fs::path& folder) {
  const auto archive = look_for_data_file("blog", "BlogFeedback.zip", folder);
  const fs::path path = archive ? *archive : find_data_file("blog", "blogData_train.csv", folder);
  BlogTable rows;
  archive ? add_blog_archive(path, rows) : add_blog_files(path, rows);
  const RowsRead read = rows.read();
  check_read(path, read.train, kBlog.read_train);
  check_read(path.parent_path() / "blogData_test-*.csv", read.test, kBlog.read_test);
  return checked(prepare("blog", rows.finish()), path, kBlog);
}

}  // namespace

const std::vector<std::string>& regression_set_names() {
  static const std::vector<std::string> names = {"compas", "news", "adult", "blog"};
  return names;
}

RegressionSet load_regression_set(const std::string& name, const fs::path& folder) {
  using Load = RegressionSet (*)(const fs::path&);
  constexpr std::pair<const char*, Load> loaders[] = {
      {"compas", load_compas}, {"news", load_news}, {"adult", load_adult}, {"blog", load_blog}};
  for (const auto& [set, load] : loaders) {
    if (name == set) return load(folder);
  }
  throw UsageError(fmt::format("there is no table '{}' to fit a network to; known are {}", name,
                               fmt::join(regression_set_names(), ", ")));
}

}  // namespace saltus
