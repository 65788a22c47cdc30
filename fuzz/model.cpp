// Any bytes as a model file: refused with a DataError, or a model that can be evaluated.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const saltus::Model model =
        saltus::parse_model({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    const saltus::Domain& domain = model.target->domain();
    if (domain.dim() > 4096) return 0;
    const saltus::RowBuffer<saltus::Symbol> x(3, domain.dim());
    for (int i = 0; i < domain.dim(); ++i) {
      x.view()[1][i] = domain.levels(i) > 1;
      x.view()[2][i] = static_cast<saltus::Symbol>(domain.levels(i) - 1);
    }
    const saltus::RowBuffer<float> score(3, domain.score_size());
    std::vector<double> logp(3);
    saltus::Scratch scratch;
    model.target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
    // The text kept in a checkpoint must describe the same model.
    const saltus::Model again = saltus::parse_model(model.text, "again");
    if (again.target->domain().dim() != domain.dim()) std::abort();
  } catch (const saltus::DataError&) {
  } catch (const saltus::FileError&) {   // weights that are not there
  } catch (const saltus::UsageError&) {  // a network, without libtorch
  }
  return 0;
}
