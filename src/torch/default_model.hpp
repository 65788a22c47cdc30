// The masked language model of models/mlm-tiny, whose files are part of the binary.
#pragma once

#include "saltus/text/bert_files.hpp"

namespace saltus {

BertFiles embedded_bert();

}  // namespace saltus
