#pragma once

#include <heddle/core/shape.hpp>
#include <heddle/schedule/interleaved_1f1b.hpp>
#include <heddle/schedule/mpipe_options.hpp>

#include "golden.hpp"

namespace heddle_test {

inline heddle::PipelineShape shape_of(const GoldenRow& row) {
  return {.ranks = row.number("P"),
          .stages_per_rank = row.number("V"),
          .micro_batches = row.number("M")};
}

/// The options of a row of `orders_mpipe`. Of a tower that does not train it does not matter who
/// was asked for its backward.
inline heddle::MPipeOptions mpipe_options_of(const GoldenRow& row) {
  const bool trains = row["tr"] == "1";
  const bool owner = trains && row["own"] == "1";
  return {
      .overflow = row["ovf"] == "min" ? heddle::OverflowMode::min : heddle::OverflowMode::full,
      .traits = {.tower = trains ? heddle::Tower::trainable : heddle::Tower::frozen,
                 .backward = owner ? heddle::TowerBackward::owner : heddle::TowerBackward::rank0,
                 .data_only = row["T"] == "0"}};
}

inline heddle::RuntimeInterleaved1F1B mpipe_body_of(const GoldenRow& row) {
  const bool shallow = row["lm"] == "1";
  return {.options = {.warmup = shallow ? heddle::Warmup::shallow : heddle::Warmup::classic}};
}

}  // namespace heddle_test
