// Two files that include everything must link into one program: [header.once].
#include "every_heddle_header.hpp"

int link_twice_b();

int main() { return link_twice_b() == heddle::version.minor ? 0 : 1; }
