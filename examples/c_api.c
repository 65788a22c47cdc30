/* saltus from C: a built-in model, a target of your own, and an error. */
#include <math.h>
#include <saltus/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kChains = 4, kDraws = 2000, kSites = 25, kBits = 10 };

static int complain(const char* what) {
  fprintf(stderr, "%s: %s\n", what, saltus_last_error());
  return 1;
}

/* Draws of a 5 x 5 lattice, with log p of each. */
static int draw_lattice(void) {
  saltus_model* model = NULL;
  if (saltus_model_load("ising-lattice", NULL, &model) != SALTUS_OK) return complain("model");
  uint8_t* spins = malloc((size_t)kChains * kDraws * kSites);
  double* logp = malloc(sizeof(double) * kChains * kDraws);
  saltus_arrays arrays;
  memset(&arrays, 0, sizeof arrays);
  arrays.bytes = spins;
  arrays.logp = logp;
  char* summary = NULL;
  const int status = saltus_sample(model, "{\"draws\": 2000, \"seed\": 7, \"sampler\": \"gwg\"}",
                                   &arrays, NULL, NULL, &summary);
  if (status != SALTUS_OK) return complain("sample");

  uint16_t state[kSites];
  for (int i = 0; i < kSites; ++i) state[i] = spins[i];
  double first = 0;
  if (saltus_model_logp(model, 1, state, &first, NULL) != SALTUS_OK) return complain("logp");
  printf("log p of the first draw %.6f, recorded as %.6f\n", first, logp[0]);
  printf("%.60s...\n", summary);
  const int good = fabs(first - logp[0]) < 1e-4 && strstr(summary, "\"complete\":true") != NULL;
  saltus_free(summary);
  saltus_model_free(model);
  free(logp);
  free(spins);
  return good ? 0 : 1;
}

/* log p(x) = 0.5 s - 0.1 s^2 for s = sum of the bits, and its gradient. */
static int sum_of_bits(void* user, int32_t rows, const double* values, double* logp,
                       double* score) {
  ++*(int*)user;
  for (int32_t r = 0; r < rows; ++r) {
    double s = 0;
    for (int i = 0; i < kBits; ++i) s += values[r * kBits + i];
    logp[r] = 0.5 * s - 0.1 * s * s;
    for (int i = 0; score && i < kBits; ++i) score[r * kBits + i] = 0.5 - 0.2 * s;
  }
  return 0;
}

static int stop_half_way(void* user, const saltus_status* status) {
  (void)user;
  return 2 * status->step >= status->steps;
}

static int draw_own_target(void) {
  int calls = 0;
  saltus_model* model = NULL;
  if (saltus_model_function("{\"kind\": \"binary\", \"dim\": 10}", "sum", 1, sum_of_bits, &calls,
                            &model) != SALTUS_OK) {
    return complain("function");
  }
  double mean[kBits], mcse[kBits];
  saltus_arrays arrays;
  memset(&arrays, 0, sizeof arrays);
  arrays.mean = mean;
  arrays.mcse = mcse;
  char* summary = NULL;
  /* No array for draws: running moments alone. */
  if (saltus_sample(model, "{\"draws\": 20000}", &arrays, NULL, NULL, &summary) != SALTUS_OK) {
    return complain("sample");
  }
  char* exact = NULL;
  if (saltus_exact(model, NULL, &exact) != SALTUS_OK) return complain("exact");
  const double truth = atof(strstr(exact, "\"mean\":[") + 8);
  printf("mean of the first bit %.4f +- %.4f, exactly %.4f, after %d calls\n", mean[0], mcse[0],
         truth, calls);
  int good = fabs(mean[0] - truth) < 6 * mcse[0];
  saltus_free(exact);
  saltus_free(summary);

  const int status =
      saltus_sample(model, "{\"draws\": 20000}", &arrays, stop_half_way, NULL, &summary);
  good = good && status == SALTUS_STOPPED;
  saltus_free(summary);
  saltus_model_free(model);
  return good ? 0 : 1;
}

int main(void) {
  printf("saltus %s\n", saltus_version());
  if (saltus_abi() != SALTUS_C_ABI) return 1;
  saltus_model* none = NULL;
  if (saltus_model_load("ising-5x6", NULL, &none) != SALTUS_NO_INPUT) return 1;
  printf("refused: %s\n", saltus_last_error());
  return draw_lattice() + draw_own_target();
}
