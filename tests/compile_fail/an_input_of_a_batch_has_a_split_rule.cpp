// expect-error: (could not convert|no viable conversion|no matching|cannot convert).*BatchInput
#include <vector>

#include <heddle/exec/batch.hpp>

void run(const std::vector<heddle::BatchInput<double>>& inputs);

void train(double tensor) {
#ifdef HEDDLE_FIXED
  run({heddle::replicate(tensor)});
#else
  run({tensor});
#endif
}
