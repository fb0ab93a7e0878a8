#include <doctest/doctest.h>
#include <heddle/core/nearest.hpp>

#include <array>
#include <string_view>

using heddle::edit_distance;
using heddle::nearest_name;

TEST_CASE("the distance counts letters added, taken away and replaced") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("gpipe", "gpipe") == 0);
  CHECK(edit_distance("gpip", "gpipe") == 1);
  CHECK(edit_distance("gpope", "gpipe") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("the nearest name is the first of those with the least distance") {
  constexpr std::array<std::string_view, 3> names{"async", "inline", "rendezvous"};
  CHECK(nearest_name("inlined", names) == "inline");
  CHECK(nearest_name("rendevous", names) == "rendezvous");
  CHECK(nearest_name("async", names) == "async");
  CHECK(nearest_name("", names) == "async");
}
