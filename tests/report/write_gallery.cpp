// Writes the page with one of everything to the path that it is given.
#include "gallery.hpp"

int main(int, char** argv) {
  saltus::report::gallery().write(argv[1]);
}
