// The main function of each program of the guard. It is a file of its own so that the compiler
// cannot move anything in or out of guard_measured(), which Callgrind knows by its name.
#include <cstdio>
#include <cstdlib>

#include "workload.hpp"

static volatile double answer;  // so that all of the work has to be done

extern "C" [[gnu::noinline]] void guard_measured(const std::function<double()>& work) {
  answer = work();
}

namespace guard {

void measure(const char* name, std::size_t operations, const std::function<double()>& work) {
  combines = 0;
  guard_measured(work);
  std::printf("%s\t%zu\t%llu\n", name, operations, static_cast<unsigned long long>(combines));
}

void expect(bool holds, const char* name) {
  if (holds) return;
  std::fprintf(stderr, "%s: the answer is wrong\n", name);
  std::exit(1);
}

}  // namespace guard

int main() { guard::run(); }
