// Models with given values or a constraint, and states without what is given.
#include <fmt/core.h>

#include <algorithm>

#include "c/handles.hpp"
#include "c/options.hpp"
#include "io/given/given_text.hpp"
#include "io/models/given_model.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/target/given.hpp"

namespace saltus::c {

saltus_model* handle(Model model) {
  auto made = std::make_unique<saltus_model>();
  made->value = model.value;
  made->objective = model.objective;
  made->text = model.text;
  made->files = model.files;
  made->whole = model.whole;
  made->base = base_of_target(model);
  const auto owner = std::make_shared<const Model>(std::move(model));
  made->target = {owner, owner->target.get()};
  made->problem = problem_of(owner);
  return made.release();
}

RowBuffer<Symbol> free_rows(const saltus_model& model, std::size_t rows,
                            const std::uint16_t* levels, const std::string& what) {
  const Domain& domain = model.whole_target().domain();
  RowBuffer<Symbol> copy(static_cast<int>(rows), model.target->domain().dim());
  for (int r = 0; r < static_cast<int>(rows); ++r) {
    const std::uint16_t* from = levels + std::ptrdiff_t{r} * domain.dim();
    for (int i = 0; i < domain.dim(); ++i) {
      if (from[i] >= domain.levels(i)) {
        throw DataError(fmt::format("row {} of {} has level {} at coordinate {}; there are {}", r,
                                    what, from[i], i, domain.levels(i)));
      }
      if (model.whole && model.whole->given.is_given(i) && from[i] != model.whole->given.value(i)) {
        throw DataError(
            fmt::format("row {} of {} has level {} at coordinate {}, which is given as {}", r, what,
                        from[i], i, model.whole->given.value(i)));
      }
    }
    if (model.whole) {
      model.whole->given.gather(from, copy.view()[r]);
    } else {
      std::copy_n(from, domain.dim(), copy.view()[r]);
    }
  }
  return copy;
}

namespace {

// The same for a function of the caller's, whose target is all that is known.
saltus_model* restricted_function(const saltus_model& m, const std::string& given,
                                  const std::string& constraint) {
  auto made = std::make_unique<saltus_model>(m);
  std::shared_ptr<const Target> all = m.target;
  if (!constraint.empty()) {
    all = std::make_shared<const Constrained>(
        m.target, Constraint::parse(constraint, m.target->domain().dim()));
    made->target = all;
  }
  if (given.empty()) return made.release();
  GivenValues values = read_given(given, m.target->domain(), {});
  if (values.list().empty()) return made.release();
  if (values.fixes_all()) {
    throw UsageError("all coordinates of the model " + m.target->name() +
                     " are given: there is nothing left to draw");
  }
  made->target = std::make_shared<const Given>(m.target, values.list());
  if (const Constraint* rule = all->constraint()) {
    std::vector<int> levels(static_cast<std::size_t>(values.domain().dim()), -1);
    for (const auto& [i, level] : values.list()) levels[static_cast<std::size_t>(i)] = level;
    made->target = std::make_shared<const Constrained>(made->target, rule->given(levels));
  }
  made->whole = std::make_shared<const WholeModel>(WholeModel{all, std::move(values), ""});
  return made.release();
}

saltus_model* restricted(const saltus_model& m, const std::string& given,
                         const std::string& constraint) {
  if (m.whole || m.target->constraint()) {
    throw UsageError("the model " + m.whole_target().name() +
                     " is restricted already: give all values, and the constraint, at once");
  }
  if (!constraint.empty()) require_two_levels(*m.target, constraint);
  if (m.is_function()) return restricted_function(m, given, constraint);
  Model model;
  model.value = *m.value;
  model.target = make_target(*m.value);
  model.objective = m.objective;
  model.text = m.text;
  model.files = m.files;
  if (!given.empty()) leave_free(model, given, constraint);
  restrict_target(model, constraint);
  return handle(std::move(model));
}

}  // namespace
}  // namespace saltus::c

using namespace saltus;
using namespace saltus::c;

extern "C" {

int saltus_model_restrict(const saltus_model* model, const char* options,
                          saltus_model** restricted_model) {
  return guarded([&] {
    need(model, "model"), need(restricted_model, "restricted");
    Options o(options);
    std::string given, constraint;
    o.take("given", given);
    o.take("constrain", constraint);
    o.finish();
    *restricted_model = restricted(*model, given, constraint);
    return SALTUS_OK;
  });
}
}
