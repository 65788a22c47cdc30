#include "saltus/io/model_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

double logp(const Model& model, std::vector<Symbol> x) {
  return logp_of(*model.target, x.data());
}

TEST(ModelFile, Ising) {
  const Model m = parse_model(
      R"({"model": "ising", "n": 3, "couplings": [[0, 1, 0.5], [2, 1, -1]], "fields": [0.1, 0, 0.3]})",
      "t");
  EXPECT_NEAR(logp(m, {1, 1, 0}), 0.5 + 1 + 0.1 - 0.3, 1e-14);
  EXPECT_NEAR(logp(m, {0, 0, 0}), 0.5 - 1 - 0.1 - 0.3, 1e-14);
}

TEST(ModelFile, IsingLatticeCountsEdgesTwice) {
  const Model m = parse_model(
      R"({"model": "ising-lattice", "shape": [1, 2], "periodic": false, "a": 0.1, "b": 0.2})", "t");
  EXPECT_NEAR(logp(m, {1, 1}), 0.2 + 0.4, 1e-14);
  EXPECT_EQ(m.target->shape(), (std::vector<int>{1, 2}));
}

// Sites are numbered with the last index changing fastest, and each edge counts twice.
TEST(ModelFile, LatticesOfAnyDimension) {
  const int shape[] = {2, 3, 4}, strides[] = {12, 4, 1};
  for (const bool periodic : {false, true}) {
    const Model m = parse_model(fmt::format(R"({{"model": "ising-lattice", "shape": [2, 3, 4],
                                                "periodic": {}, "a": 0.3, "b": 0.1}})",
                                            periodic),
                                "t");
    EXPECT_EQ(m.target->shape(), (std::vector<int>{2, 3, 4}));
    std::vector<Symbol> x(24);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i * i % 5 < 2;
    double expected = 0;
    for (int i = 0; i < 24; ++i) {
      const auto spin = [&](int k) { return 2.0 * x[static_cast<std::size_t>(k)] - 1; };
      expected += 0.1 * spin(i);
      for (int side = 0; side < 3; ++side) {
        const int stride = strides[side], place = i / stride % shape[side];
        if (place + 1 < shape[side]) {
          expected += 0.6 * spin(i) * spin(i + stride);
        } else if (periodic && shape[side] > 2) {
          expected += 0.6 * spin(i) * spin(i - place * stride);
        }
      }
    }
    EXPECT_NEAR(logp(m, x), expected, 1e-12);
  }
}

TEST(ModelFile, ALatticeIsTheSameWithASideOfLengthOne) {
  const auto lattice = [](const std::string& shape) {
    return parse_model(R"({"model": "ising-lattice", "shape": )" + shape +
                           R"(, "periodic": true, "a": 0.3, "b": -0.2})",
                       "t");
  };
  const Model flat = lattice("[3, 4]"), deep = lattice("[3, 1, 4]"), line = lattice("[12]"),
              row = lattice("[1, 12]");
  std::vector<Symbol> x = {0, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0};
  EXPECT_NEAR(logp(flat, x), logp(deep, x), 1e-12);
  EXPECT_NEAR(logp(line, x), logp(row, x), 1e-12);
}

TEST(ModelFile, FieldsWithAnObviousDefaultMayBeMissing) {
  const auto same = [](const std::string& brief, const std::string& full, std::vector<Symbol> x) {
    EXPECT_NEAR(logp(parse_model(brief, "t"), x), logp(parse_model(full, "t"), x), 1e-14) << brief;
  };
  same(R"({"model": "ising", "n": 2, "couplings": [[0, 1, 0.5]]})",
       R"({"model": "ising", "n": 2, "couplings": [[0, 1, 0.5]], "fields": [0, 0]})", {1, 0});
  same(R"({"model": "ising-lattice", "shape": [1, 3], "a": 0.5})",
       R"({"model": "ising-lattice", "shape": [1, 3], "periodic": false, "a": 0.5, "b": 0})",
       {1, 1, 1});
  same(R"({"model": "potts", "levels": 2, "unary": [[0, 1], [2, 0]], "pairwise": []})",
       R"({"model": "potts", "levels": [2, 2], "unary": [[0, 1], [2, 0]], "pairwise": []})",
       {1, 0});
  same(R"({"model": "potts", "levels": [2, 3], "pairwise": []})",
       R"({"model": "potts", "levels": [2, 3], "unary": [[0, 0], [0, 0, 0]], "pairwise": []})",
       {1, 2});
}

TEST(ModelFile, QuadraticWithValues) {
  const Model index = parse_model(
      R"({"model": "quadratic", "levels": [3, 4], "A": [[0, 1, 2], [0, 0, 1]], "b": [1, -1]})",
      "t");
  EXPECT_NEAR(logp(index, {2, 3}), 12 + 4 + 2 - 3, 1e-14);
  const Model spin = parse_model(
      R"({"model": "quadratic", "levels": 2, "A": [[0, 1, 2]], "b": [1, -1], "values": "spin"})",
      "t");
  EXPECT_NEAR(logp(spin, {0, 1}), -2 - 1 - 1, 1e-14);
}

TEST(ModelFile, Potts) {
  const Model m = parse_model(R"({"model": "potts", "levels": [2, 3], "unary": [[1, 2], [3, 4, 5]],
                                  "pairwise": [{"between": [1, 0], "table": [[10, 20], [30, 40], [50, 60]]}]})",
                              "t");
  EXPECT_NEAR(logp(m, {1, 2}), 2 + 5 + 60, 1e-14);
  EXPECT_NEAR(logp(m, {0, 1}), 1 + 4 + 30, 1e-14);
}

TEST(ModelFile, PoissonAndBernoulli) {
  const Model p = parse_model(R"({"model": "poisson", "rate": [3, 0.5]})", "t");
  EXPECT_NEAR(logp(p, {4, 0}), 4 * std::log(3.0) - std::log(24.0), 1e-13);
  const Model b = parse_model(R"({"model": "bernoulli", "logits": [1, -2]})", "t");
  EXPECT_NEAR(logp(b, {1, 1}), -1, 1e-14);
}

TEST(ModelFile, Rbm) {
  const Model m = parse_model(
      R"({"model": "rbm", "weights": [[1, 2], [3, 4], [5, 6]], "visible_bias": [0.5, -1],
          "hidden_bias": [0, 1, 2]})",
      "t");
  const auto softplus = [](double z) { return std::log1p(std::exp(z)); };
  EXPECT_NEAR(logp(m, {1, 0}), softplus(1) + softplus(4) + softplus(7) + 0.5, 1e-13);
}

// The same machine from a safetensors file, and the ways in which such a file can be wrong.
TEST(ModelFile, RbmFromAWeightsFile) {
  const std::string name = "saltus_rbm." + std::to_string(::getpid()) + ".safetensors";
  const std::string path = testing::TempDir() + name;
  const float numbers[] = {1, 2, 3, 4, 5, 6, 0.5f, -1, 0, 1, 2};
  const auto write = [&](const std::string& header, std::size_t bytes = sizeof numbers) {
    std::ofstream out(path, std::ios::binary);
    const std::uint64_t length = header.size();
    out.write(reinterpret_cast<const char*>(&length), 8);
    out << header;
    out.write(reinterpret_cast<const char*>(numbers), static_cast<std::streamsize>(bytes));
  };
  const std::string good =
      R"({"weights": {"dtype": "F32", "shape": [3, 2], "data_offsets": [0, 24]},
          "visible_bias": {"dtype": "F32", "shape": [2], "data_offsets": [24, 32]},
          "hidden_bias": {"dtype": "F32", "shape": [3], "data_offsets": [32, 44]}})";
  const std::string text = R"({"model": "rbm", "weights_file": ")" + name + R"("})";
  write(good);
  const Model m = parse_model(text, "t", testing::TempDir());
  const auto softplus = [](double z) { return std::log1p(std::exp(z)); };
  EXPECT_NEAR(logp(m, {1, 0}), softplus(1) + softplus(4) + softplus(7) + 0.5, 1e-6);
  EXPECT_NO_THROW(parse_model(m.text, "again"));  // the path is absolute now
  const auto refused = [&] { EXPECT_THROW(parse_model(text, "t", testing::TempDir()), DataError); };
  write(good, sizeof numbers - 1);
  refused();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string header = good;
    header.replace(header.find(from), from.size(), to);
    write(header);
    refused();
  };
  changed("[3, 2]", "[2, 2]");
  changed("[0, 24]", "[24, 0]");
  changed("[32, 44]", "[32, 18446744073709551615]");
  changed("[3, 2]", "[4294967296, 4294967296]");
  changed("F32", "I64");
  changed("\"weights\"", "\"other\"");
  changed("{\"weights\"", "{{");
  std::ofstream(path) << "short";
  refused();
  EXPECT_THROW(
      parse_model(R"({"model": "rbm", "weights_file": "none.npz"})", "t", testing::TempDir()),
      FileError);
  EXPECT_THROW(parse_model(R"({"model": "rbm", "weights_file": "x.txt"})", "t", testing::TempDir()),
               DataError);
}

TEST(ModelFile, BuiltInModelsParse) {
  for (const BuiltInModel& m : built_in_models()) EXPECT_NO_THROW(load_model(m.name)) << m.name;
}

// The text that a checkpoint keeps describes the same model.
TEST(ModelFile, TextIsComplete) {
  for (const BuiltInModel& m : built_in_models()) {
    const Model first = load_model(m.name), again = parse_model(first.text, "again");
    std::vector<Symbol> x(static_cast<std::size_t>(first.target->domain().dim()), 1);
    EXPECT_EQ(logp(first, x), logp(again, x));
  }
}

struct Bad {
  const char *text, *field;
};

// Refused, with the source and the field in the message.
TEST(ModelFile, RefusesWhatDoesNotFit) {
  const Bad list[] = {
      {R"({"model": "ising", "n": 2, "couplings": [], "fields": [0, 0], "extra": 1})", "extra"},
      {R"({"model": "ising", "n": 2, "couplings": [], "fields": [0]})", "fields"},
      {R"({"model": "ising", "n": 2, "couplings": [[0, 2, 1]], "fields": [0, 0]})",
       "couplings[0][1]"},
      {R"({"model": "ising", "n": 2, "couplings": [[-1, 1, 1]], "fields": [0, 0]})",
       "couplings[0][0]"},
      {R"({"model": "ising", "n": 2, "couplings": [[0, 1, "a"]], "fields": [0, 0]})",
       "couplings[0][2]"},
      {R"({"model": "ising", "n": 2, "couplings": [[0, 1, 1], [1, 0, 1]], "fields": [0, 0]})",
       "couplings[1]"},
      {R"({"model": "ising", "n": 2, "couplings": [[0, 0, 1]], "fields": [0, 0]})", "couplings[0]"},
      {R"({"model": "ising", "n": 2, "couplings": [[0, 1]], "fields": [0, 0]})", "couplings[0]"},
      {R"({"model": "ising", "n": 0, "couplings": [], "fields": []})", "n"},
      {R"({"model": "ising", "n": 1.5, "couplings": [], "fields": [0]})", "n"},
      {R"({"model": "ising", "n": 2, "couplings": {}, "fields": [0, 0]})", "couplings"},
      {R"({"model": "ising-lattice", "shape": [], "periodic": true, "a": 1, "b": 1})", "shape"},
      {R"({"model": "ising-lattice", "shape": [5, 0], "periodic": true, "a": 1, "b": 1})",
       "shape[1]"},
      {R"({"model": "ising-lattice", "shape": [100000, 100000], "periodic": true, "a": 1, "b": 1})",
       "shape[1]"},
      {R"({"model": "ising-lattice", "shape": [5, 5], "periodic": 1, "a": 1, "b": 1})", "periodic"},
      {R"({"model": "ising-lattice", "shape": [5, 5], "periodic": true, "a": null, "b": 1})", "a"},
      {R"({"model": "ising-lattice", "shape": [5, 5], "periodic": true, "b": 1})", "a"},
      {R"({"model": "potts", "levels": 3, "pairwise": []})", "unary"},
      {R"({"model": "potts", "levels": 3, "unary": [], "pairwise": []})", "unary"},
      {R"({"model": "potts", "levels": 3, "unary": [[0, 0]], "pairwise": []})", "unary[0]"},
      {R"({"model": "bernoulli", "logits": []})", "logits"},
      {R"({"model": "bernoulli", "logits": [1], "logits": [2]})", "logits"},
      {R"({"model": "bernoulli", "logits": [1, null]})", "logits[1]"},
      {R"({"model": "quadratic", "levels": 1, "A": [], "b": [0]})", "levels"},
      {R"({"model": "quadratic", "levels": [2, 1], "A": [], "b": [0, 0]})", "levels[1]"},
      {R"({"model": "quadratic", "levels": [2], "A": [], "b": [0, 0]})", "levels"},
      {R"({"model": "quadratic", "levels": 3, "A": [[0, 0, 1], [0, 0, 1]], "b": [0]})", "A[1]"},
      {R"({"model": "quadratic", "levels": 3, "A": [], "b": [0], "values": "spin"})", "levels"},
      {R"({"model": "quadratic", "levels": 2, "A": [], "b": [0], "values": "other"})", "values"},
      {R"({"model": "potts", "levels": [2, 2], "unary": [[0, 0]], "pairwise": []})", "unary"},
      {R"({"model": "potts", "levels": [2, 2], "unary": [[0, 0], [0]], "pairwise": []})",
       "unary[1]"},
      {R"({"model": "potts", "levels": [2, 2], "unary": [[0, 0], [0, 0]], "pairwise": [{"between": [0, 0], "table": []}]})",
       "pairwise[0].between"},
      {R"({"model": "potts", "levels": [2, 2], "unary": [[0, 0], [0, 0]], "pairwise": [{"between": [0, 1], "table": [[0, 0]]}]})",
       "pairwise[0].table"},
      {R"({"model": "potts", "levels": [2, 2], "unary": [[0, 0], [0, 0]], "pairwise": [{"between": [0, 1], "table": [[0, 0], [0, 0]]}, {"between": [1, 0], "table": [[0, 0], [0, 0]]}]})",
       "pairwise[1]"},
      {R"({"model": "potts", "levels": [2, 2], "unary": [[0, 0], [0, 0]], "pairwise": [{"between": [0, 1]}]})",
       "pairwise[0]"},
      {R"({"model": "rbm", "weights": [[1, 2]], "visible_bias": [0, 0], "hidden_bias": [0, 0]})",
       "weights"},
      {R"({"model": "rbm", "weights": [[1], [2]], "visible_bias": [0, 0], "hidden_bias": [0, 0]})",
       "weights[0]"},
      {R"({"model": "rbm", "weights": [], "visible_bias": [0, 0], "hidden_bias": []})",
       "hidden_bias"},
      {R"({"model": "poisson", "rate": [-1]})", "rate[0]"},
      {R"({"model": "poisson", "rate": [3, 0]})", "rate[1]"},
      {R"({"model": "nonsense"})", "model"},
      {R"({"n": 3})", "model"},
      {R"([1, 2])", "object"},
      {R"({"model": "bernoulli", "logits": [1e999]})", "logits[0]"},
      {R"({"model": "bernoulli", "logits": [NaN]})", "JSON"},
      {"", "JSON"},
      {"{\"model\": \"bernoulli\", \"logits\": [1", "JSON"},
  };
  for (const Bad& bad : list) {
    try {
      parse_model(bad.text, "source.json");
      ADD_FAILURE() << "accepted " << bad.text;
    } catch (const DataError& e) {
      const std::string message = e.what();
      EXPECT_NE(message.find("source.json"), std::string::npos) << message;
      EXPECT_NE(message.find(bad.field), std::string::npos) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
}

TEST(ModelFile, MissingFiles) {
  EXPECT_THROW(load_model(testing::TempDir() + "no_such_model.json"), FileError);
  EXPECT_THROW(load_model(testing::TempDir()), FileError);
}

}  // namespace
}  // namespace saltus
