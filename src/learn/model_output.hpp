// Learned models as files that load_model reads.
#pragma once

#include <filesystem>
#include <span>

namespace saltus {

// Weights by hidden units. Many of them go to a file beside the model file, NAME.weights.npz for
// NAME.json. Throws FileError.
void write_rbm(const std::filesystem::path& path, std::span<const float> weights,
               std::span<const float> visible_bias, std::span<const float> hidden_bias);

// logp(s) = s'Gs + h's with a symmetric G, by rows; its diagonal does not count.
void write_ising(const std::filesystem::path& path, std::span<const float> couplings,
                 std::span<const float> fields);

}  // namespace saltus
