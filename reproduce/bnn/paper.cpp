#include "reproduce/bnn/paper.hpp"

#include <map>
#include <utility>

namespace saltus::reproduce::bnn {

std::optional<Published> published(const std::string& set, const std::string& entrant) {
  static const std::map<std::pair<std::string, std::string>, Published> table = {
      {{"compas", "Gibbs"}, {-0.4063, 0.4718, {-0.4123, -0.4049}, {0.4766, 0.4665}}},
      {{"compas", "GWG"}, {-0.3729, 0.4757, {-0.3647, -0.3809}, {0.4738, 0.4678}}},
      {{"compas", "DULA"}, {-0.3590, 0.4879, {-0.3551, -0.3597}, {0.4792, 0.4753}}},
      {{"compas", "DMALA"}, {-0.3394, 0.4879, {-0.3365, -0.3398}, {0.4895, 0.4845}}},
      {{"compas", "DULA, batch 10"}, {-0.4288, 0.4929, {-0.4348, -0.4275}, {0.5009, 0.4758}}},
      {{"compas", "DULA, batch 100"}, {-0.3689, 0.4864, {-0.3756, -0.3703}, {0.4775, 0.4846}}},
      {{"compas", "DULA, batch 500"}, {-0.3603, 0.4848, {-0.3674, -0.3644}, {0.4860, 0.4914}}},
      {{"news", "Gibbs"}, {-0.2374, 0.1048, {-0.2365}, {0.1003}}},
      {{"news", "GWG"}, {-0.2368, 0.1028, {-0.2368}, {0.1004}}},
      {{"news", "DULA"}, {-0.2339, 0.0971, {-0.2355}, {0.1076, 0.0966}}},
      {{"news", "DMALA"}, {-0.2344, 0.0943, {-0.2352, -0.2355}, {0.0950, 0.0967}}},
      {{"news", "DULA, batch 10"}, {-0.2355, 0.1072}},
      {{"news", "DULA, batch 100"}, {-0.2342, 0.0971, {-0.2352}, {0.1028}}},
      {{"news", "DULA, batch 500"}, {-0.2344, 0.0976}},
      {{"adult", "Gibbs"}, {-0.4587, 0.4826, {-0.4643}, {0.4882}}},
      {{"adult", "GWG"}, {-0.4444, 0.4709, {-0.4580}, {0.4845}}},
      {{"adult", "DULA"}, {-0.3287, 0.3971, {-0.3274}, {0.3992}}},
      {{"adult", "DMALA"}, {-0.3190, 0.3931, {-0.3216}, {0.3919}}},
      {{"adult", "DULA, batch 10"}, {-0.3738, 0.4309}},
      {{"adult", "DULA, batch 100"}, {-0.3275, 0.3963}},
      {{"adult", "DULA, batch 500"}, {-0.3233, 0.3954}},
      {{"blog", "Gibbs"}, {-0.3829, 0.4191, {-0.3946}, {0.4277}}},
      {{"blog", "GWG"}, {-0.3414, 0.3728, {-0.3556}, {0.3858}}},
      {{"blog", "DULA"}, {-0.2694, 0.3193, {-0.2658}, {0.3178}}},
      {{"blog", "DMALA"}, {-0.2670, 0.3198, {-0.2660}, {0.3151}}},
      {{"blog", "DULA, batch 10"}, {-0.3199, 0.3533}},
      {{"blog", "DULA, batch 100"}, {-0.2710, 0.3202, {-0.2713}, {0.3272}}},
      {{"blog", "DULA, batch 500"}, {-0.2689, 0.3198}},
  };
  const auto found = table.find({set, entrant});
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace saltus::reproduce::bnn
