// A page with one of everything, for tests of pages.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "report/page.hpp"
#include "saltus/io/images.hpp"

namespace saltus::report {

// Text that would run as a script where it is not escaped.
inline const std::string kAttack =
    "<script>window.attacked=1</script>\"><img src=x onerror='window.attacked=1'>&</title>";

inline Plot decay() {
  Plot plot{.title = "Decay " + kAttack,
            .x_label = "steps",
            .y_label = "error",
            .log_x = true,
            .log_y = true,
            .summary = "Both errors fall. " + kAttack};
  for (int s = 0; s < 2; ++s) {
    Series series;
    series.name = s == 0 ? "fast " + kAttack : "slow";
    for (int i = 0; i < 30; ++i) {
      const double x = std::pow(10.0, 1 + i / 10.0), y = std::pow(x, s == 0 ? -1.0 : -0.5);
      series.x.push_back(x);
      series.y.push_back(i == 7 ? std::numeric_limits<double>::quiet_NaN() : y);
      series.low.push_back(i == 20 ? -1 : 0.7 * y);
      series.high.push_back(1.4 * y);
    }
    plot.series.push_back(series);
  }
  return plot;
}

inline Plot boxes() {
  Plot plot{.title = "Boxes",
            .kind = Plot::Kind::box,
            .x_label = "sampler",
            .y_label = "log error",
            .categories = {"dmala", "gibbs", "a sampler with a long name"},
            .summary = "Two series of boxes."};
  plot.series = {{"first", {}, {}, {}, {}, {}}, {"second", {}, {}, {}, {}, {}}};
  plot.series[0].boxes = {box_of({1, 2, 3, 4, 5}), box_of({2, 2.5, 3, 9}), box_of({0, 1, 1, 8})};
  plot.series[1].boxes = {box_of({4, 5, 6, 7}), box_of({}), box_of({3})};
  return plot;
}

inline Plot bars() {
  Plot plot{.title = "Bars",
            .kind = Plot::Kind::bars,
            .x_label = "value",
            .y_label = "share",
            .categories = {"-1", "0", "1"},
            .summary = "A histogram with error bars."};
  plot.series = {{"x", {}, {0.2, 0.5, 0.3}, {0.15, 0.4, 0.25}, {0.25, 0.6, 0.35}, {}}};
  return plot;
}

inline Plot scatter() {
  Plot plot{.title = "Points",
            .kind = Plot::Kind::scatter,
            .x_label = "x",
            .y_label = "y",
            .summary = "Five points."};
  plot.series = {
      {"points", {0, 1, 2, 3, 4}, {1, 3, 2, 5, 4}, {0, 2, 1, 4, 3}, {2, 4, 3, 6, 5}, {}}};
  return plot;
}

inline Page gallery() {
  Page page("Gallery " + kAttack);
  page.facts({{"Seed", "1"}, {"Command", "saltus sample " + kAttack, true, "as given"}});
  page.folded("Model", "{\"model\": \"" + kAttack + "\"}");
  page.heading("Heading " + kAttack);
  page.paragraph("Paragraph " + kAttack);
  page.warning("R-hat is 1.1 " + kAttack);
  page.table({"Table " + kAttack,
              {"name", "value"},
              {{kAttack, Cell(2.5, "2.50")},
               {"b", Cell(std::numeric_limits<double>::infinity(), "inf")},
               {"c", Cell(std::nan(""), "-")},
               {"d", Cell(-1000, "-1,000")}},
              {{"worst", Cell(-1000, "-1,000")}}});
  for (const Plot& plot : {decay(), boxes(), bars(), scatter()}) page.plot(plot);
  const std::vector<std::uint8_t> pixels = {0, 128, 255, 64};
  page.images("Pictures " + kAttack,
              {{encode_png(pixels, 2, 2), "Four pixels " + kAttack, kAttack}});
  return page;
}

}  // namespace saltus::report
