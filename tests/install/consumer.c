/* A C program that uses the installed library. */
#include <saltus/c.h>
#include <stdio.h>

int main(void) {
  saltus_model* model = NULL;
  char* answer = NULL;
  if (saltus_abi() != SALTUS_C_ABI || saltus_model_load("potts", NULL, &model) != SALTUS_OK ||
      saltus_exact(model, NULL, &answer) != SALTUS_OK) {
    printf("%s\n", saltus_last_error());
    return 1;
  }
  printf("%s\n", answer);
  saltus_free(answer);
  saltus_model_free(model);
  return 0;
}
