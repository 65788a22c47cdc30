// What a plot of a page shows, and how to bring data into that form.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace saltus::report {

// The five numbers of a box and the values beyond its whiskers.
struct Box {
  double low = 0, q1 = 0, median = 0, q3 = 0, high = 0;
  std::vector<double> outliers;
};

// Of the values that are finite. Quartiles interpolate between order statistics (type 7 of Hyndman
// & Fan 1996); the whiskers end at the last value within 1.5 (q3 - q1) of the box (Tukey). At most
// `most_outliers` values beyond them are kept: evenly spread ones, the extremes among them. All
// numbers are NaN when no value is finite.
Box box_of(std::vector<double> values, std::size_t most_outliers = 20);

struct Series {
  std::string name = {};
  // Of lines and points, which may be numbers of Plot::categories, from 0 on; bars and boxes stand
  // at all of them.
  std::vector<double> x = {};
  std::vector<double> y = {};
  // Where not empty, as long as y: a band around a line, an error bar around a point or bar.
  std::vector<double> low = {}, high = {};
  std::vector<Box> boxes = {};  // kind box only, in the place of y

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

struct Plot {
  enum class Kind { line, scatter, bars, box };

  // Every member has an initializer, so that a plot can be written with the names of a few.
  std::string title = {};
  Kind kind = Kind::line;
  std::string x_label = {}, y_label = {};
  bool log_x = false, log_y = false;
  std::vector<std::string> categories = {};  // of bars and boxes, and of points that have some
  std::vector<Series> series = {};
  std::string summary = {};  // what the plot shows, for those who do not see it
  // Where the y axis must reach at least, when y_from < y_to.
  double y_from = 0, y_to = 0;
  bool wide = false;  // takes the page's whole width
};

// Leaves at most about `limit` points: the least and the greatest y of equally long pieces, so that
// no peak is lost, and the first and last point.
void thin(Series& series, std::size_t limit);

// Every k-th of n things so that at most `limit` remain, the first and last among them.
std::vector<std::size_t> evenly_spread(std::size_t n, std::size_t limit);

}  // namespace saltus::report
