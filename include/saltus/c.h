/* saltus for other languages: models in, draws and summaries out, through functions of C.
 *
 *   saltus_model* model = NULL;
 *   if (saltus_model_load("ising-lattice", NULL, &model) != SALTUS_OK) puts(saltus_last_error());
 *   saltus_arrays arrays = {0};
 *   arrays.levels = levels;                          // 4 chains x 1000 draws x 25 sites
 *   char* summary = NULL;                            // JSON, as 'saltus sample --json' prints it
 *   saltus_sample(model, "{\"draws\": 1000, \"seed\": 1}", &arrays, NULL, NULL, &summary);
 *   saltus_free(summary);
 *   saltus_model_free(model);
 *
 * Every function that can fail returns a status. Unless that is SALTUS_OK or SALTUS_STOPPED,
 * saltus_last_error() has a sentence for the user, and nothing was written to the last argument.
 * Options and results are JSON texts in UTF-8; options have the names of those on the command line,
 * and a null pointer or an empty text leaves all of them at their defaults. Texts that a function
 * returns through a char** belong to the caller, who frees them with saltus_free. No exception
 * leaves a function. Several threads may use one model at once. */
#ifndef SALTUS_C_H
#define SALTUS_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SALTUS_C_API __attribute__((visibility("default")))
#else
#define SALTUS_C_API
#endif

/* Grows when a function or a struct of this header changes. */
#define SALTUS_C_ABI 2

enum {
  SALTUS_OK = 0,
  SALTUS_STOPPED = 1,   /* a callback stopped the work; results are of what was done */
  SALTUS_USAGE = 64,    /* a request that cannot be served */
  SALTUS_DATA = 65,     /* data that do not fit */
  SALTUS_NO_INPUT = 66, /* a file that cannot be read */
  SALTUS_SOFTWARE = 70, /* a mistake of ours */
  SALTUS_NO_MEMORY = 71,
  SALTUS_CANNOT_CREATE = 73, /* a file that cannot be written */
  SALTUS_CALLBACK = 75       /* the caller's own function failed */
};

SALTUS_C_API int32_t saltus_abi(void); /* SALTUS_C_ABI of the library */
SALTUS_C_API const char* saltus_version(void);
/* Of the last call in this thread that failed; valid until the next one fails. */
SALTUS_C_API const char* saltus_last_error(void);
SALTUS_C_API void saltus_free(char* text);

/* ---- models ---- */

typedef struct saltus_model saltus_model;

/* A file, or a built-in name. `options`: those of problem files (format, beta, ...). */
SALTUS_C_API int saltus_model_load(const char* file_or_name, const char* options,
                                   saltus_model** model);
/* From the text of a model file, or what saltus_model_text returned; `source` names it in
 * messages. */
SALTUS_C_API int saltus_model_parse(const char* text, const char* source, saltus_model** model);
/* log p(s) = sum over the pairs of weight[k] s_i[k] s_j[k] + sum fields_i s_i, spins -1 and +1.
 * Each pair is listed once. */
SALTUS_C_API int saltus_model_ising(int32_t n, size_t pairs, const int32_t* i, const int32_t* j,
                                    const double* weight, const double* fields,
                                    saltus_model** model);
/* The same on ordered levels 0, 1, ..., where (i, j) and (j, i) add up and (i, i) is allowed.
 * `levels`: the number of levels of every coordinate. */
SALTUS_C_API int saltus_model_quadratic(int32_t n, int32_t levels, size_t pairs, const int32_t* i,
                                        const int32_t* j, const double* weight,
                                        const double* fields, saltus_model** model);
/* weights: hidden rows of visible entries. */
SALTUS_C_API int saltus_model_rbm(int32_t hidden, int32_t visible, const double* weights,
                                  const double* visible_bias, const double* hidden_bias,
                                  saltus_model** model);

/* log p and, where `score` is not null, its gradient at rows of values, for the caller's own
 * target: `values` has `rows` rows of dim entries (-1/+1 for spins, the level's index for
 * categorical coordinates), `score` as many of one entry for each coordinate, or for each
 * coordinate and level where they are categorical. On a two-level domain values may lie between the
 * levels. No two calls overlap; they come from the thread that called the library, or from threads
 * of its own while that one waits. Anything but 0 ends the work with SALTUS_CALLBACK. */
typedef int (*saltus_function)(void* user, int32_t rows, const double* values, double* logp,
                               double* score);
/* domain: {"kind": "binary", "dim": 10}; other kinds are spin, integers and, with "levels", ordered
 * and categorical. has_score 0: the function never writes a score, and samplers that need one are
 * refused. */
SALTUS_C_API int saltus_model_function(const char* domain, const char* name, int has_score,
                                       saltus_function function, void* user, saltus_model** model);

/* The law of some coordinates given the others, or the model among the states that keep a rule, or
 * both. Options: given ("3=1,7=0" with level indices, or a file of values), constrain ("sum=3",
 * "sum=2..4", "parity=even", "one-hot=0-3,4-7"). States, draws and summaries have all coordinates
 * as before. Frees neither model. */
SALTUS_C_API int saltus_model_restrict(const saltus_model* model, const char* options,
                                       saltus_model** restricted);

SALTUS_C_API void saltus_model_free(saltus_model* model);

/* name, dim, shape, kind, levels, first_value, spacing, unbounded, score_size, labels, objective,
 * and given and constraint where it is restricted. */
SALTUS_C_API int saltus_model_info(const saltus_model* model, char** json);
/* A list of the samplers that run on it. */
SALTUS_C_API int saltus_model_samplers(const saltus_model* model, char** json);
/* What saltus_model_parse reads. Refused for functions, and for models whose weights belong into a
 * file of their own. */
SALTUS_C_API int saltus_model_text(const saltus_model* model, char** json);
/* As a model file, or in the format of another program where the name ends so. */
SALTUS_C_API int saltus_model_write(const saltus_model* model, const char* path);
/* levels: rows of dim level indices. score: null, or rows of score_size entries. In double
 * precision. */
SALTUS_C_API int saltus_model_logp(const saltus_model* model, size_t rows, const uint16_t* levels,
                                   double* logp, double* score);

/* ---- work ---- */

typedef struct saltus_status {
  const char* stage;    /* "warm-up", "draws", "forward", ... */
  double done;          /* part of the stage, from 0 to 1 */
  uint64_t step, steps; /* of sampling: made and planned; otherwise 0 */
  double seconds;       /* since the beginning; NaN where it is not known, as below */
  double steps_per_second;
  double acceptance_rate;
  double best; /* of annealing: log p so far */
} saltus_status;

/* Called now and then by the thread that called the library; anything but 0 stops the work. */
typedef int (*saltus_progress)(void* user, const saltus_status* status);

/* Where a run writes its draws and summaries. A null pointer: not wanted. */
typedef struct saltus_arrays {
  uint16_t* levels;  /* [chain][draw][coordinate]: level indices */
  uint8_t* bytes;    /* the same in place of levels, for up to 256 levels */
  double* logp;      /* [chain][draw] */
  float* acceptance; /* [chain][draw] */
  double *mean, *sd, *mcse, *ess_bulk, *rhat; /* one entry for each coordinate; NaN where it is not
                                                 diagnosed, or has none */
  const uint16_t* start; /* [chain][coordinate]: where chains start, in place of "init" */
} saltus_arrays;

/* Where a run stands, without its draws. */
typedef struct saltus_state saltus_state;
SALTUS_C_API void saltus_state_free(saltus_state* state);

/* Options: sampler, set, chains, warmup, draws, thin, seed, threads, tile, init, record, observe,
 * keep (coordinates that alone have entries in levels and bytes), first_chain and chains_of_run
 * (the chains are a range of those of a larger run, as saltus_chain_ranges deals them out), temper,
 * base, betas, steps, probe, checkpoint, checkpoint_every, overwrite, resume, time_limit, and
 * exact: compare with the exact answer where the model is small, which can take a second (true
 * for unordered levels). A run that is stopped has written the first draws of each chain, as many
 * as `draws` of the summary says. */
SALTUS_C_API int saltus_sample(const saltus_model* model, const char* options,
                               const saltus_arrays* arrays, saltus_progress progress, void* user,
                               char** json);
/* The same, with *after (null: not wanted) for a continuation. With `before`, which stays as it is,
 * continues a run to `draws` draws of each chain in all; the arrays then begin with those that it
 * made, and other options than draws, threads, time_limit, probe and exact are refused. */
SALTUS_C_API int saltus_sample_on(const saltus_model* model, const char* options,
                                  const saltus_state* before, const saltus_arrays* arrays,
                                  saltus_progress progress, void* user, saltus_state** after,
                                  char** json);
/* Options: sampler, set, chains, tile, parts. A list of [first chain, chains], one for each part of
 * a run, or fewer where chains move together. */
SALTUS_C_API int saltus_chain_ranges(const saltus_model* model, const char* options, char** json);
/* chains, warmup, draws, thin, seed, record, keep (of the coordinates that are not given, counted
 * among themselves), sampler, set and the model's text (null: it was a function's) of the run that
 * a checkpoint holds. */
SALTUS_C_API int saltus_checkpoint_info(const char* path, char** json);

/* Chains that are stepped by the caller. The model must outlive them. */
typedef struct saltus_chains saltus_chains;
/* Options: sampler, set, chains, seed, threads, tile, init. start: null, or a state of each chain.
 */
SALTUS_C_API int saltus_chains_new(const saltus_model* model, const char* options,
                                   const uint16_t* start, saltus_chains** chains);
/* Steps that tune the sampler; before any others. */
SALTUS_C_API int saltus_chains_tune(saltus_chains* chains, uint64_t steps);
SALTUS_C_API int saltus_chains_step(saltus_chains* chains, uint64_t steps);
/* levels: [chain][coordinate]; logp: [chain]. Either may be null. */
SALTUS_C_API int saltus_chains_states(const saltus_chains* chains, uint16_t* levels, double* logp);
/* step, sampler, parameters; acceptance_rate and changes of the last call. */
SALTUS_C_API int saltus_chains_info(const saltus_chains* chains, char** json);
SALTUS_C_API void saltus_chains_free(saltus_chains* chains);

/* One step of the discrete Langevin proposal on the caller's own rows of dim values of two levels:
 * 0 and 1, or with spin -1 and +1. Between the two calls the caller evaluates log p and its
 * gradient at y. log_q, logp and the sums have an entry for each row; seed: another one for each
 * step. */
SALTUS_C_API int saltus_langevin_propose(int32_t rows, int32_t dim, int spin, double step_size,
                                         uint64_t seed, const float* x, const float* score,
                                         float* y, double* log_q);
/* The Metropolis test: the states after the step, with score and logp, which may be those of y.
 * Adds the acceptance probability to chances, and the number of changed coordinates to changes. */
SALTUS_C_API int saltus_langevin_choose(int32_t rows, int32_t dim, int spin, double step_size,
                                        uint64_t seed, const float* x, const float* y,
                                        const float* score, const float* score_y,
                                        const double* log_q, const double* logp, double* logp_y,
                                        float* new_x, float* new_score, double* chances,
                                        double* changes);

/* Draws that are in memory. domain: as for saltus_model_function, or with first_value and spacing.
 * levels: `width` (1 or 2) bytes each, dense. Each array is null or has an entry for each
 * coordinate. */
SALTUS_C_API int saltus_summarise(const char* domain, int32_t chains, uint64_t draws,
                                  const void* levels, int32_t width, int32_t threads, double* mean,
                                  double* sd, double* mcse, double* ess_bulk, double* ess_tail,
                                  double* rhat);
/* Of every level of every coordinate, at the place of its score: the share of draws that have it,
 * and MCSE, ESS and R-hat of that. */
SALTUS_C_API int saltus_summarise_levels(const char* domain, int32_t chains, uint64_t draws,
                                         const void* levels, int32_t width, int32_t threads,
                                         double* probability, double* mcse, double* ess,
                                         double* rhat);

/* A list of what speaks against the mixing of the chains, {"code", "sentence"}; empty: nothing.
 * logp: [chain][draw], or null. */
SALTUS_C_API int saltus_mixing(const char* domain, int32_t chains, uint64_t draws,
                               const void* levels, int32_t width, const double* logp,
                               int32_t threads, char** json);

/* sampler, set, betas (a number or a list), steps, chains, base, reverse, reverse_warmup, method,
 * replicas, ensembles, warmup, draws, seed, threads, checkpoint, checkpoint_every, overwrite,
 * resume, time_limit. test: null, or data whose log-likelihood is wanted, rows of dim level
 * indices. */
SALTUS_C_API int saltus_logz(const saltus_model* model, const char* options, size_t test_rows,
                             const uint16_t* test, saltus_progress progress, void* user,
                             char** json);
/* sampler, set */
SALTUS_C_API int saltus_verify(const saltus_model* model, const char* options,
                               saltus_progress progress, void* user, char** json);
/* samplers (a list of names, or of {"sampler", "set"}), budget, chains, seed, threads */
SALTUS_C_API int saltus_compare(const saltus_model* model, const char* options,
                                saltus_progress progress, void* user, char** json);
/* sampler, set, method, restarts, steps, schedule, first, last, goal, polish, time_limit, seed,
 * threads */
SALTUS_C_API int saltus_anneal(const saltus_model* model, const char* options,
                               saltus_progress progress, void* user, char** json);
/* sampler, set, pairs, lag (a number; otherwise found), max_steps, warmup, seed, threads */
SALTUS_C_API int saltus_certify(const saltus_model* model, const char* options,
                                saltus_progress progress, void* user, char** json);
/* memory (bytes): log Z, the probability of every level and the best state by elimination, or by
 * going through all states */
SALTUS_C_API int saltus_exact(const saltus_model* model, const char* options, char** json);

/* ---- learning ---- */

/* What was learned: parameters, and what a continuation needs. */
typedef struct saltus_learned saltus_learned;
/* Options: kind (rbm or ising), hidden, fields, sampler, set, chains (persistent ones; 0:
 * contrastive divergence), steps, batch, drop_last, lr, l1, seed, threads, epochs or iterations,
 * checkpoint, checkpoint_every, resume, overwrite, time_limit. data: rows of dim bytes, 0 and 1.
 * state: null, or saltus_learned_state of an earlier call with the same options, which is
 * continued; epochs and iterations count on from there. The JSON has `history`, with lists. */
SALTUS_C_API int saltus_learn(const char* options, size_t rows, int32_t dim, const uint8_t* data,
                              const void* state, size_t state_size, saltus_progress progress,
                              void* user, saltus_learned** learned, char** json);
/* Of an rbm: weights by hidden units, visible biases, hidden biases. Of an Ising model: G by rows,
 * with log p(s) = s'Gs + h's, then h where it is learned. *size: their number. */
SALTUS_C_API const float* saltus_learned_parameters(const saltus_learned* learned, size_t* size);
SALTUS_C_API const void* saltus_learned_state(const saltus_learned* learned, size_t* size);
SALTUS_C_API void saltus_learned_free(saltus_learned* learned);

/* A list of {"name", "summary"}; of {"name", "summary", "parameters"}. */
SALTUS_C_API int saltus_built_in_models(char** json);
SALTUS_C_API int saltus_samplers(char** json);

#ifdef __cplusplus
}
#endif

#endif
