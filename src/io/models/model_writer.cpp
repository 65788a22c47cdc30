// Models as JSON text, each number with the digits that restore it.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/bytes/byte_file.hpp"
#include "io/bytes/npy.hpp"
#include "io/models/factors_json.hpp"
#include "io/models/graph_json.hpp"
#include "io/models/labels_json.hpp"
#include "io/models/model_text.hpp"
#include "io/models/weights_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostInside = 10'000;  // weights in the JSON itself

std::string list(std::span<const double> numbers) {
  std::string text = "[";
  for (const double v : numbers) text += (text.size() > 1 ? "," : "") + fmt::format("{}", v);
  return text + "]";
}

// Rows of numbers; row i has lengths(i) entries.
template <class Lengths>
std::string table(std::span<const double> numbers, std::size_t rows, Lengths lengths) {
  std::string text = "[";
  for (std::size_t i = 0, at = 0; i < rows; ++i) {
    text += (i ? ",\n  " : "\n  ") + list(numbers.subspan(at, lengths(i)));
    at += lengths(i);
  }
  return text + "]";
}

std::string couplings(const std::vector<Coupling>& all) {
  std::string text = "[";
  for (const Coupling& c : all) {
    text += fmt::format("{}[{},{},{}]", text.size() > 1 ? "," : "\n  ", c.i, c.j, c.weight);
  }
  return text + "]";
}

std::string levels(const Domain& domain) {
  std::vector<int> each;
  for (int i = 0; i < domain.dim(); ++i) each.push_back(domain.levels(i));
  return OrderedJson(each).dump();
}

// The fields that many kinds of models may have, where this one has them.
std::string optional_fields(double constant, const Labels& labels) {
  std::string text;
  if (constant != 0) text += fmt::format(",\n \"constant\": {}", constant);
  return text + labels_fields(labels);
}

// Of the kinds of models whose files have none.
void refuse_constant(double constant) {
  if (constant == 0) return;
  throw DataError(fmt::format(
      "the model has the constant {}, for which files of this kind have no place", constant));
}

// A float where all numbers are floats, so that the file takes half the room.
void add_numbers(ZipWriter& zip, const std::string& name, std::vector<std::uint64_t> shape,
                 std::span<const double> numbers) {
  const bool single = std::all_of(numbers.begin(), numbers.end(), [](double v) {
    return static_cast<double>(static_cast<float>(v)) == v;
  });
  if (!single) return add_npy(zip, name, NpyType::f8, shape, std::as_bytes(numbers));
  const std::vector<float> floats(numbers.begin(), numbers.end());
  add_npy(zip, name, NpyType::f4, shape, std::as_bytes(std::span(floats)));
}

// Returns the JSON, and writes what does not belong into it beside `path`.
struct Writer {
  const fs::path& path;

  std::string operator()(const BernoulliModel& m) const {
    refuse_constant(m.constant);
    return R"({"model": "bernoulli", "logits": )" + list(m.logits) + optional_fields(0, m.labels) +
           "}";
  }
  std::string operator()(const PoissonModel& m) const {
    return R"({"model": "poisson", "rate": )" + list(m.rates) + "}";
  }
  std::string operator()(const FactorsModel& m) const { return factors_json(m); }
  std::string operator()(const GraphModel& m) const { return graph_json(m); }
  std::string operator()(const IsingModel& m) const {
    return fmt::format(
        "{{\"model\": \"ising\", \"n\": {},\n \"couplings\": {},\n \"fields\": {}{}}}", m.n,
        couplings(m.couplings), list(m.fields), optional_fields(m.constant, m.labels));
  }
  std::string operator()(const LatticeModel& m) const {
    return fmt::format(
        R"({{"model": "ising-lattice", "shape": {}, "periodic": {}, "a": {}, "b": {}{}}})",
        OrderedJson(m.shape).dump(), m.periodic, m.a, m.b, optional_fields(m.constant, {}));
  }
  std::string operator()(const QuadraticModel& m) const {
    const bool spins = m.domain.first_value() < 0;
    const int all = m.domain.uniform_levels();
    return fmt::format("{{\"model\": \"quadratic\", \"levels\": {},{}\n \"A\": {},\n \"b\": {}{}}}",
                       all ? std::to_string(all) : levels(m.domain),
                       spins ? R"( "values": "spin",)" : "", couplings(m.couplings), list(m.field),
                       optional_fields(m.constant, m.labels));
  }
  std::string operator()(const PottsModel& m) const {
    const auto size = [&](int i) { return static_cast<std::size_t>(m.domain.levels(i)); };
    std::string edges;
    for (const PottsEdge& e : m.edges) {
      edges +=
          fmt::format("{}{{\"between\": [{}, {}], \"table\": {}}}", edges.empty() ? "" : ",", e.i,
                      e.j, table(e.table, size(e.i), [&](std::size_t) { return size(e.j); }));
    }
    return fmt::format(
        "{{\"model\": \"potts\", \"levels\": {},\n \"unary\": {},\n \"pairwise\": [{}]{}}}",
        levels(m.domain),
        table(m.unary, static_cast<std::size_t>(m.domain.dim()),
              [&](std::size_t i) { return size(static_cast<int>(i)); }),
        edges, optional_fields(m.constant, m.labels));
  }
  std::string operator()(const RbmModel& m) const {
    refuse_constant(m.constant);
    const std::size_t visible = m.visible_bias.size(), hidden = m.hidden_bias.size();
    if (m.weights.size() > kMostInside) {
      const std::string file = beside([&](ZipWriter& zip) {
        add_numbers(zip, "weights", {hidden, visible}, m.weights);
        add_numbers(zip, "visible_bias", {visible}, m.visible_bias);
        add_numbers(zip, "hidden_bias", {hidden}, m.hidden_bias);
      });
      return OrderedJson{{"model", "rbm"}, {"weights_file", file}}.dump();
    }
    return fmt::format(
        "{{\"model\": \"rbm\", \"weights\": {},\n \"visible_bias\": {},\n \"hidden_bias\": {}}}",
        table(m.weights, hidden, [&](std::size_t) { return visible; }), list(m.visible_bias),
        list(m.hidden_bias));
  }
  std::string operator()(const ResnetEnergy& m) const {
    check(m);
    const std::string file = beside([&](ZipWriter& zip) {
      for (const ParameterArray& array : parameter_arrays(m.shape)) {
        const std::span<const float> values(m.parameters);
        add_npy(zip, array.name, NpyType::f4, {array.shape.begin(), array.shape.end()},
                std::as_bytes(values.subspan(array.begin, array.size)));
      }
      add_npy(zip, "base_mean", NpyType::f8, {m.base_mean.size()},
              std::as_bytes(std::span(m.base_mean)));
    });
    const ResnetShape& s = m.shape;
    return OrderedJson{{"model", "resnet-ebm"},  {"height", s.height}, {"width", s.width},
                       {"channels", s.channels}, {"blocks", s.blocks}, {"halvings", s.halvings},
                       {"weights_file", file}}
        .dump();
  }
  std::string operator()(const ScriptModel& m) const {
    const Domain& d = m.domain;
    const bool categorical = d.kind() == Domain::Kind::categorical;
    const char* kind = categorical           ? "categorical"
                       : d.first_value() < 0 ? "spin"
                       : d.max_levels() == 2 ? "binary"
                                             : "ordered";
    OrderedJson json{
        {"model", "torch"}, {"script", m.file.string()}, {"domain", kind}, {"dim", d.dim()}};
    if (categorical || d.max_levels() > 2) json["levels"] = d.max_levels();
    return json.dump();
  }

 private:
  // Writes an archive of arrays beside the model file and returns its name.
  template <class Fill>
  std::string beside(Fill fill) const {
    const fs::path file = weights_beside(path);
    replace_file(file, [&](OutputFile& out) {
      ZipWriter zip(out);
      fill(zip);
      zip.finish();
    });
    return file.filename().string();
  }
};

}  // namespace

std::string inline_text(const AnyModel& model) {
  const bool beside =
      std::holds_alternative<RbmModel>(model) || std::holds_alternative<ResnetEnergy>(model);
  if (beside) throw UsageError("the model has weights in a file of their own");
  return std::visit(Writer{{}}, model);
}

void write_model(const fs::path& path, const AnyModel& model) {
  replace_file(path, std::visit(Writer{path}, model) + "\n");
}

}  // namespace saltus
