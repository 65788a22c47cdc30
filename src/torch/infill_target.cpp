#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <algorithm>
#include <mutex>
#include <type_traits>
#include <vector>

#include "saltus/core/error.hpp"
#include "torch/bert_encoder.hpp"
#include "torch/libtorch.hpp"
#include "torch/module.hpp"

namespace saltus {
namespace {

// The pieces that may stand in a gap: what levels of a coordinate are.
struct Levels {
  std::vector<std::int32_t> pieces;
  at::Tensor index;  // the same on the device; none: all pieces
  at::Tensor words;  // their embeddings, (levels, hidden)

  // The columns of the levels in a matrix with one for every piece.
  at::Tensor columns(const at::Tensor& all) const {
    return index.defined() ? all.index_select(1, index) : all;
  }
};

at::Tensor to_device(const std::vector<std::int64_t>& values, std::vector<std::int64_t> shape,
                     at::Device device) {
  at::Tensor here = at::empty(shape, at::kLong);
  std::copy(values.begin(), values.end(), here.data_ptr<std::int64_t>());
  return here.to(device);
}

class BertModel final : public MaskedModel {
 public:
  BertModel(BertFiles files, at::Device device)
      : files_(std::move(files)), encoder_(files_, device) {
    if (!device.is_cpu()) files_.arrays.clear();  // they are on the device
  }

  const BertFiles& files() const override { return files_; }
  const BertEncoder& encoder() const { return encoder_; }

  std::shared_ptr<const Levels> levels(const AllowedPieces& allowed) const {
    const std::lock_guard lock(mutex_);
    auto& known = levels_[2 * allowed.special + allowed.continuations];
    if (!known) known = make_levels(allowed);
    return known;
  }

 private:
  std::shared_ptr<const Levels> make_levels(const AllowedPieces& allowed) const {
    Levels levels{allowed_pieces(*files_.pieces, allowed), {}, encoder_.words()};
    if (levels.pieces.empty()) throw DataError("the model " + files_.name + " has no words");
    if (static_cast<int>(levels.pieces.size()) > Domain::kMaxLevels) {
      throw DataError("the model " + files_.name + " has more than " +
                      std::to_string(Domain::kMaxLevels) + " word pieces");
    }
    if (levels.pieces.size() < static_cast<std::size_t>(files_.config.vocabulary)) {
      levels.index =
          to_device({levels.pieces.begin(), levels.pieces.end()},
                    {static_cast<std::int64_t>(levels.pieces.size())}, encoder_.device());
      levels.words = encoder_.words().index_select(0, levels.index);
    }
    return std::make_shared<const Levels>(std::move(levels));
  }

  BertFiles files_;
  BertEncoder encoder_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const Levels> levels_[4];
};

class BertInfill final : public InfillTarget {
 public:
  BertInfill(std::shared_ptr<const BertModel> model, const InfillProblem& problem,
             std::shared_ptr<const Levels> levels)
      : model_(std::move(model)),
        levels_(std::move(levels)),
        problem_(problem),
        gaps_(static_cast<int>(problem.gaps.size())),
        domain_(Domain::categorical(gaps_, static_cast<int>(levels_->pieces.size()))) {}

  std::string name() const override { return "bert-infill"; }
  const Domain& domain() const override { return domain_; }
  const InfillProblem& problem() const override { return problem_; }
  const std::vector<std::int32_t>& allowed() const override { return levels_->pieces; }

  // Tiles are the unit of parallel work, as everywhere: draws then do not depend on the number of
  // threads.
  int preferred_tile() const override { return std::max(1, most_sentences() / gaps_); }

  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void log_probabilities(const At&, Rows<const Symbol> x, std::span<const int> gaps,
                         bool all_masked, Rows<float> out) const override;
  void terms(const At&, Rows<const Symbol> x, Rows<double> out) const override;

 private:
  // Sentences with one gap masked, whose piece is read out.
  struct Batch {
    at::Tensor ids;     // (rows, length)
    at::Tensor places;  // of the masked gaps, counted through all rows
  };

  const BertEncoder& encoder() const { return model_->encoder(); }
  std::string origin() const { return "the model " + model_->files().name; }
  std::int64_t length() const { return static_cast<std::int64_t>(problem_.ids.size()); }
  std::int64_t piece(Symbol level) const { return levels_->pieces[level]; }
  std::int64_t place(int gap) const { return problem_.gaps[static_cast<std::size_t>(gap)]; }

  // Computed together. Products with a few hundred rows are as fast as larger ones on a core; a GPU
  // wants many more. What a gradient keeps of them is bounded by this too.
  int most_sentences() const {
    const int positions = encoder().device().is_cpu() ? 256 : 65536;
    return std::max(1, positions / static_cast<int>(length()));
  }

  Batch batch(Rows<const Symbol> x, std::span<const int> gaps, bool all_masked) const;
  // For every row of x a sentence for each gap.
  Batch all_gaps(Rows<const Symbol> x) const;
  // The pieces in the gaps, (rows * gaps, 1).
  at::Tensor filled(Rows<const Symbol> x) const;
  at::Tensor log_softmax(const Batch& batch) const;
  at::Tensor through_inputs(const at::Tensor& embedded, const at::Tensor& encoded,
                            const at::Tensor& log_f, const at::Tensor& filled) const;
  at::Tensor evaluate_terms(Rows<const Symbol> x, Rows<float> score) const;

  std::shared_ptr<const BertModel> model_;
  std::shared_ptr<const Levels> levels_;
  InfillProblem problem_;
  int gaps_;
  Domain domain_;
};

template <class T>
Rows<T> part(Rows<T> rows, int begin, int count) {
  if (!rows) return rows;
  return {rows[begin], count, rows.cols, rows.stride};
}

// f(first row, count) for `rows` rows, in blocks of at most `most`.
template <class F>
void in_parts(int rows, int most, const F& f) {
  for (int begin = 0; begin < rows; begin += most) f(begin, std::min(most, rows - begin));
}

// Rows of a tensor on the device to rows here; each of the latter takes several of the former when
// it is so long.
template <class T>
void copy_rows(const at::Tensor& from, Rows<T> to) {
  const auto type = std::is_same_v<T, double> ? at::kDouble : at::kFloat;
  const at::Tensor rows = from.to(type).view({to.rows, to.cols});
  for (int r = 0; r < to.rows; ++r) at::from_blob(to[r], {to.cols}, type).copy_(rows[r]);
}

BertInfill::Batch BertInfill::batch(Rows<const Symbol> x, std::span<const int> gaps,
                                    bool all_masked) const {
  std::vector<std::int64_t> ids, places;
  ids.reserve(gaps.size() * problem_.ids.size());
  const std::int64_t mask = model_->files().pieces->mask();
  for (int r = 0; r < x.rows; ++r) {
    const auto begin = static_cast<std::int64_t>(ids.size());
    const int hidden = gaps[static_cast<std::size_t>(r)];
    ids.insert(ids.end(), problem_.ids.begin(), problem_.ids.end());
    for (int i = 0; i < gaps_; ++i) {
      ids[static_cast<std::size_t>(begin + place(i))] =
          all_masked || i == hidden ? mask : piece(x[r][i]);
    }
    places.push_back(begin + place(hidden));
  }
  const at::Device device = encoder().device();
  return {to_device(ids, {x.rows, length()}, device), to_device(places, {x.rows}, device)};
}

BertInfill::Batch BertInfill::all_gaps(Rows<const Symbol> x) const {
  const RowBuffer<Symbol> rows(x.rows * gaps_, gaps_);
  std::vector<int> gaps;
  for (int r = 0; r < x.rows * gaps_; ++r) {
    std::copy_n(x[r / gaps_], gaps_, rows.view()[r]);
    gaps.push_back(r % gaps_);
  }
  return batch(rows.view(), gaps, false);
}

at::Tensor BertInfill::filled(Rows<const Symbol> x) const {
  std::vector<std::int64_t> ids;
  for (int r = 0; r < x.rows; ++r) {
    for (int i = 0; i < gaps_; ++i) ids.push_back(piece(x[r][i]));
  }
  return to_device(ids, {x.rows * gaps_, 1}, encoder().device());
}

at::Tensor BertInfill::log_softmax(const Batch& batch) const {
  const at::Tensor encoded = encoder().encode(encoder().embed(batch.ids), batch.places);
  return at::log_softmax(encoder().read_out(encoded), 1);
}

// The gradient of U by the one-hot row of gap j has two parts. Where gap j is masked and read out,
// the term theta_j' log f_j gives log f_j itself. In the sentences i != j, where it is filled, its
// embedding is E' theta_j, which gives E g_j with g_j the sum of d log f_i / d embedding of gap j.
// This is g, (rows of x * gaps, hidden). With w the decoder's rows, of which logits are
// products with the encoded sentence h, d log f_theta / dh = w_theta - sum_k f_k w_k.
at::Tensor BertInfill::through_inputs(const at::Tensor& embedded, const at::Tensor& encoded,
                                      const at::Tensor& log_f, const at::Tensor& filled) const {
  const at::Tensor& w = encoder().decoder();
  const at::Tensor by_encoded =
      at::addmm(w.index_select(0, filled.view({-1})), log_f.exp(), w, 1, -1);
  const at::Tensor places =
      to_device({problem_.gaps.begin(), problem_.gaps.end()}, {gaps_}, encoder().device());
  const at::Tensor by_gaps =
      torch::autograd::grad({encoded}, {embedded}, {by_encoded})[0].index_select(1, places);
  // Of rows (chain, i) and gaps j: none where gap i itself is masked.
  const at::Tensor others = 1 - at::eye(gaps_, by_gaps.options());
  return (by_gaps.view({-1, gaps_, gaps_, by_gaps.size(2)}) * others.view({gaps_, gaps_, 1}))
      .sum(1)
      .view({-1, by_gaps.size(2)});
}

// log f_i of every gap, (rows of x * gaps, 1).
at::Tensor BertInfill::evaluate_terms(Rows<const Symbol> x, Rows<float> score) const {
  use_one_thread();
  const at::Tensor pieces = filled(x);
  const Batch sentences = all_gaps(x);
  if (!score) {
    const c10::InferenceMode no_gradients;
    return log_softmax(sentences).gather(1, pieces);
  }
  at::Tensor embedded, encoded;
  {
    const at::AutoGradMode gradients(true);
    embedded = encoder().embed(sentences.ids).requires_grad_(true);
    encoded = encoder().encode(embedded, sentences.places);
  }
  const at::NoGradGuard no_gradients;
  const at::Tensor log_f = at::log_softmax(encoder().read_out(encoded), 1);
  const at::Tensor g = through_inputs(embedded, encoded, log_f, pieces);
  copy_rows(at::addmm(levels_->columns(log_f), g, levels_->words.t()), score);
  return log_f.gather(1, pieces);
}

void BertInfill::terms(const At&, Rows<const Symbol> x, Rows<double> out) const {
  in_parts(x.rows, preferred_tile(), [&](int begin, int count) {
    or_failure(origin(), [&] {
      copy_rows(evaluate_terms(part(x, begin, count), {}), part(out, begin, count));
    });
  });
}

void BertInfill::evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  in_parts(x.rows, preferred_tile(), [&](int begin, int count) {
    or_failure(origin(), [&] {
      const at::Tensor terms = evaluate_terms(part(x, begin, count), part(score, begin, count));
      const at::Tensor sums = terms.to(at::kCPU, at::kDouble).view({count, gaps_}).sum(1);
      if (logp) std::copy_n(sums.data_ptr<double>(), count, logp + begin);
    });
  });
}

void BertInfill::log_probabilities(const At&, Rows<const Symbol> x, std::span<const int> gaps,
                                   bool all_masked, Rows<float> out) const {
  use_one_thread();
  const c10::InferenceMode no_gradients;
  in_parts(x.rows, most_sentences(), [&](int begin, int count) {
    const auto first = static_cast<std::size_t>(begin), rows = static_cast<std::size_t>(count);
    or_failure(origin(), [&] {
      const Batch sentences = batch(part(x, begin, count), gaps.subspan(first, rows), all_masked);
      copy_rows(levels_->columns(log_softmax(sentences)), part(out, begin, count));
    });
  });
}

void check(const InfillProblem& problem, const BertFiles& files) {
  if (problem.gaps.empty()) throw DataError("the sentence has no gap");
  const auto inside = [&](std::int32_t place) {
    return place >= 0 && static_cast<std::size_t>(place) < problem.ids.size();
  };
  const auto known = [&](std::int32_t id) { return id >= 0 && id < files.config.vocabulary; };
  if (!std::all_of(problem.gaps.begin(), problem.gaps.end(), inside) ||
      !std::all_of(problem.ids.begin(), problem.ids.end(), known)) {
    throw DataError("the sentence does not belong to the model " + files.name);
  }
  if (problem.ids.size() > static_cast<std::size_t>(files.config.positions)) {
    throw DataError("the sentence is longer than the model " + files.name + " takes");
  }
}

}  // namespace

std::shared_ptr<const MaskedModel> LibtorchModule::load_masked_model(
    BertFiles bert, const DeviceChoice& choice) const {
  if (choice.device == Device::cuda && choice.precision == Precision::half) {
    throw UsageError("a masked language model is computed in single precision or tf32, not half");
  }
  return std::make_shared<const BertModel>(std::move(bert), tensor_device(choice));
}

std::unique_ptr<InfillTarget> LibtorchModule::infill(
    std::shared_ptr<const MaskedModel> masked_model, const InfillProblem& problem,
    const AllowedPieces& allowed) const {
  auto model = std::dynamic_pointer_cast<const BertModel>(std::move(masked_model));
  if (!model) throw UsageError("the masked language model is not one of libtorch's");
  check(problem, model->files());
  auto levels = model->levels(allowed);
  return std::make_unique<BertInfill>(std::move(model), problem, std::move(levels));
}

}  // namespace saltus
