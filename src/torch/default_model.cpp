#include <cstddef>
#include <span>
#include <string>

#include "text/bert_sources.hpp"
#include "torch/module.hpp"

// Names NAME_begin and NAME_end for the content of a file of the folder.
#define SALTUS_EMBED(name, file)                                                      \
  __asm__(".pushsection .rodata\n.balign 16\n.hidden " #name "_begin\n.global " #name \
          "_begin\n" #name "_begin:\n.incbin \"" SALTUS_DEFAULT_MODEL "/" file        \
          "\"\n.hidden " #name "_end\n.global " #name "_end\n" #name                  \
          "_end:\n.byte 0\n.popsection\n");                                           \
  extern "C" const std::byte name##_begin[], name##_end[]

SALTUS_EMBED(saltus_model_config, "config.json");
SALTUS_EMBED(saltus_model_vocabulary, "vocab.txt");
SALTUS_EMBED(saltus_model_weights, "model.safetensors");

namespace saltus {
namespace {

std::string text_of(const std::byte* begin, const std::byte* end) {
  return {reinterpret_cast<const char*>(begin), reinterpret_cast<const char*>(end)};
}

}  // namespace

BertFiles LibtorchModule::default_bert() const {
  BertSources sources;
  sources.name = "mlm-tiny";
  sources.folder = "built-in model mlm-tiny: ";
  sources.config = text_of(saltus_model_config_begin, saltus_model_config_end);
  sources.vocabulary = text_of(saltus_model_vocabulary_begin, saltus_model_vocabulary_end);
  const std::span<const std::byte> weights(saltus_model_weights_begin, saltus_model_weights_end);
  sources.tensors =
      tensors_of(Safetensors(memory_bytes(weights, sources.folder + "model.safetensors")));
  return assemble_bert(sources);
}

}  // namespace saltus
