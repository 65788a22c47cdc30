// Values that somebody gives for some coordinates of a model, as words or as a file.
#pragma once

#include <string>

#include "saltus/model/models.hpp"
#include "saltus/target/given_values.hpp"

namespace saltus {

// "i=v,j=w", or the name of a file: evidence of UAI (.evid), whole numbers with -1 where a
// coordinate is free (.npy), a JSON object {"i": v}, a picture with grey or transparent pixels
// where it is free (.png), or text: lines "i v", or a level or ? for each coordinate. i counts
// coordinates from 0, or is the text that labels one; v is the name or the index of a level, of
// spins also -1.
// Throws UsageError for words, DataError for files, FileError.
GivenValues read_given(const std::string& words_or_file, const Domain& domain,
                       const Labels& labels);

}  // namespace saltus
