#include "saltus/text/bert_files.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {

BertFiles default_bert() {
  return torch_module("the language model that comes with saltus").default_bert();
}

}  // namespace saltus
