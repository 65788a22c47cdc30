// Reads draws from netCDF-4 files in the layout of ArviZ's InferenceData, our own and others'.
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "io/bytes/byte_file.hpp"
#include "io/draws/formats.hpp"
#include "io/draws/netcdf_file.hpp"

namespace saltus {
namespace {

using netcdf::File;

constexpr std::size_t kLongestAttribute = std::size_t{1} << 20;
constexpr int kMostLevels = 65536;  // as many as a Symbol tells apart
constexpr std::size_t kMostChains = std::size_t{1} << 24;

[[noreturn]] void refuse(const File& file, const std::string& why) {
  throw DataError(fmt::format("'{}' cannot be used: {}.", file.name(), why));
}

struct Variable {
  int group = 0, id = 0;
  nc_type type = NC_NAT;
  std::string name;
  std::vector<std::string> dimensions;
  std::vector<std::size_t> lengths;

  bool of_integers() const {
    return type == NC_BYTE || type == NC_UBYTE || type == NC_SHORT || type == NC_USHORT ||
           type == NC_INT || type == NC_UINT || type == NC_INT64 || type == NC_UINT64;
  }
  bool of_numbers() const { return of_integers() || type == NC_FLOAT || type == NC_DOUBLE; }
  bool by_draw() const {
    return dimensions.size() >= 2 && dimensions[0] == "chain" && dimensions[1] == "draw";
  }
};

std::optional<int> find_group(const File& file, const char* name) {
  int id = 0;
  if (nc_inq_ncid(file.id(), name, &id) != NC_NOERR) return std::nullopt;
  return id;
}

Variable describe(const File& file, int group, int id) {
  Variable v;
  std::array<char, NC_MAX_NAME + 1> name = {};
  int count = 0;
  file.check(nc_inq_var(group, id, name.data(), &v.type, &count, nullptr, nullptr));
  std::vector<int> dimensions(static_cast<std::size_t>(count));
  file.check(nc_inq_vardimid(group, id, dimensions.data()));
  v.group = group;
  v.id = id;
  v.name = name.data();
  for (const int d : dimensions) {
    std::size_t length = 0;
    file.check(nc_inq_dim(group, d, name.data(), &length));
    v.dimensions.emplace_back(name.data());
    v.lengths.push_back(length);
  }
  return v;
}

std::optional<Variable> find_variable(const File& file, int group, const char* name) {
  int id = 0;
  if (nc_inq_varid(group, name, &id) != NC_NOERR) return std::nullopt;
  return describe(file, group, id);
}

// `x`, or else the first variable that has integers for every draw.
Variable find_states(const File& file, int group) {
  if (const auto x = find_variable(file, group, "x")) {
    if (x->by_draw() && x->of_numbers()) return *x;
    refuse(file, "its variable 'x' is not one of numbers with the dimensions chain, draw, ...");
  }
  int count = 0;
  file.check(nc_inq_nvars(group, &count));
  for (int id = 0; id < count; ++id) {
    Variable v = describe(file, group, id);
    if (v.by_draw() && v.of_integers()) return v;
  }
  refuse(file,
         "its group 'posterior' has no variable of integers with the dimensions chain, draw, ...");
}

std::optional<double> number_attribute(int group, const char* name) {
  std::size_t length = 0;
  double number = 0;
  if (nc_inq_attlen(group, NC_GLOBAL, name, &length) != NC_NOERR || length != 1 ||
      nc_get_att_double(group, NC_GLOBAL, name, &number) != NC_NOERR || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

std::vector<double> numbers_attribute(const File& file, int group, const char* name) {
  std::size_t length = 0;
  nc_type type = NC_NAT;
  if (nc_inq_att(group, NC_GLOBAL, name, &type, &length) != NC_NOERR || type == NC_CHAR ||
      type == NC_STRING) {
    return {};
  }
  std::vector<double> numbers(length);
  file.check(nc_get_att_double(group, NC_GLOBAL, name, numbers.data()));
  return numbers;
}

// Other programs write text as an array of characters or as a string.
std::optional<std::string> text_attribute(const File& file, int group, const char* name) {
  nc_type type = NC_NAT;
  std::size_t length = 0;
  if (nc_inq_att(group, NC_GLOBAL, name, &type, &length) != NC_NOERR) return std::nullopt;
  if (type == NC_STRING && length == 1) {
    char* text = nullptr;
    file.check(nc_get_att_string(group, NC_GLOBAL, name, &text));
    std::string copy = text == nullptr ? "" : text;
    nc_free_string(1, &text);
    return copy;
  }
  if (type != NC_CHAR || length > kLongestAttribute) return std::nullopt;
  std::string text(length, '\0');
  if (length > 0) file.check(nc_get_att_text(group, NC_GLOBAL, name, text.data()));
  return text;
}

void read_attributes(const File& file, int group, DrawsInfo& info) {
  info.model = text_attribute(file, group, "model").value_or("");
  info.sampler = text_attribute(file, group, "sampler").value_or("");
  info.step_size = number_attribute(group, "step_size").value_or(0);
  info.exact = number_attribute(group, "exact").value_or(1) != 0;
  const auto chain_number = [&](const char* name) {
    return static_cast<std::int64_t>(
        std::clamp(number_attribute(group, name).value_or(0), 0.0, 4294967295.0));
  };
  info.first_chain = chain_number("first_chain");
  info.chains_of_run = chain_number("chains_of_run");
  int count = 0;
  file.check(nc_inq_natts(group, &count));
  for (int i = 0; i < count; ++i) {
    std::array<char, NC_MAX_NAME + 1> name = {};
    file.check(nc_inq_attname(group, NC_GLOBAL, i, name.data()));
    if (netcdf::is_own_attribute(name.data())) continue;
    if (auto text = text_attribute(file, group, name.data())) info.attributes[name.data()] = *text;
  }
}

class NetcdfDraws final : public Draws {
 public:
  explicit NetcdfDraws(const std::filesystem::path& path) : file_(path.string(), false) {
    const std::lock_guard lock(netcdf::library_mutex());
    file_.open(path);
    const auto posterior = find_group(file_, "posterior");
    if (!posterior) refuse(file_, "it has no group 'posterior', so it is no InferenceData file");
    x_ = find_states(file_, *posterior);
    take_shape();
    read_attributes(file_, *posterior, info_);
    take_values();
    if (const auto stats = find_group(file_, "sample_stats")) {
      lp_ = find_statistic(*stats, "lp");
      acceptance_ = find_statistic(*stats, "acceptance_rate");
    }
  }

  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return static_cast<int>(x_.lengths[0]); }
  std::size_t draws() const override { return x_.lengths[1]; }
  int dim() const override { return dim_; }

  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    int r = 0;
    read_values(chain, first, static_cast<std::size_t>(x.rows), [&](std::span<const double> row) {
      std::transform(row.begin(), row.end(), x[r++], [&](double v) { return level(v); });
    });
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    if (lp_) return read_statistic(*lp_, chain, first, out);
    std::fill(out.begin(), out.end(), std::numeric_limits<double>::quiet_NaN());
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    if (acceptance_) return read_statistic(*acceptance_, chain, first, out);
    std::fill(out.begin(), out.end(), 1.0F);
  }

 private:
  void take_shape() {
    constexpr std::size_t limit = std::numeric_limits<int>::max();
    std::size_t dim = 1;
    for (std::size_t d = 2; d < x_.lengths.size(); ++d) {
      const std::size_t n = x_.lengths[d];
      if (n == 0) refuse(file_, fmt::format("its variable '{}' is empty", x_.name));
      if (n > limit / dim) {
        refuse(file_, fmt::format("its variable '{}' has more than 2^31 - 1 coordinates", x_.name));
      }
      dim *= n;
      info_.shape.push_back(static_cast<int>(n));
    }
    if (info_.shape.empty()) info_.shape = {1};
    if (x_.lengths[0] == 0) refuse(file_, fmt::format("its variable '{}' is empty", x_.name));
    if (x_.lengths[0] > kMostChains) {
      refuse(file_, fmt::format("it has more than {} chains", kMostChains));
    }
    dim_ = static_cast<int>(dim);
  }

  // What the levels stand for: in our own files it is said, in others' it is seen.
  void take_values() {
    const auto levels = number_attribute(x_.group, "levels");
    const auto first = number_attribute(x_.group, "first_value");
    const auto spacing = number_attribute(x_.group, "spacing");
    if (!levels || !first || !spacing) {
      if (x_.of_integers()) return find_values();
      refuse(file_, fmt::format("its variable '{}' holds floating-point numbers, and nothing says "
                                "which levels they stand for",
                                x_.name));
    }
    if (*levels < 1 || *levels > kMostLevels || *spacing == 0) {
      refuse(file_, "its attributes 'levels' and 'spacing' describe no set of levels");
    }
    info_.levels = static_cast<int>(*levels);
    info_.first_value = *first;
    info_.spacing = *spacing;
    const std::vector<double> classes = numbers_attribute(file_, x_.group, "classes");
    if (!classes.empty() && !take_classes(classes, dim_, info_)) {
      refuse(file_,
             "its attribute 'classes' is no list of level counts, one or one per coordinate");
    }
    if (!take_bonds(numbers_attribute(file_, x_.group, "bonds"), dim_, info_)) {
      refuse(file_, "its attribute 'bonds' is no list of pairs of coordinates");
    }
  }

  void find_values() {
    double low = 0, high = 1;
    for (int chain = 0; chain < chains(); ++chain) {
      read_values(chain, 0, draws(), [&](std::span<const double> row) {
        const auto [min, max] = std::minmax_element(row.begin(), row.end());
        low = std::min(low, *min);
        high = std::max(high, *max);
      });
    }
    if (high - low >= kMostLevels) {
      refuse(file_, fmt::format("its variable '{}' runs over more than {} integers", x_.name,
                                kMostLevels));
    }
    info_.first_value = low;
    info_.spacing = 1;
    info_.levels = static_cast<int>(high - low) + 1;
  }

  std::optional<Variable> find_statistic(int group, const char* name) const {
    auto variable = find_variable(file_, group, name);
    if (!variable) return std::nullopt;
    if (!variable->of_numbers() || variable->lengths.size() != 2 ||
        variable->lengths[0] != x_.lengths[0] || variable->lengths[1] != x_.lengths[1]) {
      refuse(file_, fmt::format("its variable '{}' does not have one number for each draw of '{}'",
                                name, x_.name));
    }
    return variable;
  }

  Symbol level(double value) const {
    const double exact = (value - info_.first_value) / info_.spacing;
    const double nearest = std::nearbyint(exact);
    // Written so that a NaN is refused too.
    if (!(nearest >= 0 && nearest < info_.levels && std::abs(exact - nearest) < 1e-6)) {
      refuse(file_, fmt::format("its variable '{}' holds {}, which is none of its {} levels",
                                x_.name, value, info_.levels));
    }
    return static_cast<Symbol>(nearest);
  }

  // Calls f with the values of each draw in [first, first + rows).
  template <class F>
  void read_values(int chain, std::size_t first, std::size_t rows, F&& f) const {
    const std::size_t dim = static_cast<std::size_t>(dim_);
    const std::size_t at_once = std::clamp<std::size_t>(kReadEntries / dim, 1, rows + 1);
    std::vector<double> block(at_once * dim);
    std::vector<std::size_t> start(x_.lengths.size(), 0), count = x_.lengths;
    start[0] = static_cast<std::size_t>(chain);
    count[0] = 1;
    for (std::size_t done = 0; done < rows; done += count[1]) {
      start[1] = first + done;
      count[1] = std::min(at_once, rows - done);
      {
        const std::lock_guard lock(netcdf::library_mutex());
        file_.check(nc_get_vara_double(x_.group, x_.id, start.data(), count.data(), block.data()));
      }
      for (std::size_t r = 0; r < count[1]; ++r) f(std::span(block).subspan(r * dim, dim));
    }
  }

  template <class T>
  void read_statistic(const Variable& variable, int chain, std::size_t first,
                      std::span<T> out) const {
    const std::lock_guard lock(netcdf::library_mutex());
    const std::array<std::size_t, 2> start = {static_cast<std::size_t>(chain), first},
                                     count = {1, out.size()};
    if constexpr (std::is_same_v<T, float>) {
      file_.check(
          nc_get_vara_float(variable.group, variable.id, start.data(), count.data(), out.data()));
    } else {
      file_.check(
          nc_get_vara_double(variable.group, variable.id, start.data(), count.data(), out.data()));
    }
  }

  File file_;
  Variable x_;
  std::optional<Variable> lp_, acceptance_;
  DrawsInfo info_;
  int dim_ = 1;
};

}  // namespace

std::unique_ptr<Draws> open_netcdf_draws(const std::filesystem::path& path) {
  { const InputFile probe(path); }  // its errors say more than the library's
  return std::make_unique<NetcdfDraws>(path);
}

}  // namespace saltus
