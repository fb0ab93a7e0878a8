#include "every_heddle_header.hpp"

int link_twice_b();
int link_twice_b() { return heddle::version.minor; }
