#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <heddle/core/error.hpp>

namespace heddle {

/// The size of a pipeline: how many ranks, how many stages each holds, how many micro-batches a
/// step has.
///
/// Stages are numbered 0 .. ranks * stages_per_rank - 1 from the input to the loss, micro-batches 0
/// .. micro_batches - 1. Stages below `first_trained_stage` have nothing to train: they run no
/// backward step and no gradient reaches them. Its largest value, the number of stages, means that
/// nothing trains (an evaluation).
struct PipelineShape {
  int ranks{};
  int stages_per_rank = 1;
  int micro_batches{};
  int first_trained_stage = 0;

  constexpr int stages() const { return ranks * stages_per_rank; }

  friend constexpr bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

/// The fields of PipelineShape, to say which of them is wrong.
enum class ShapeField : std::uint8_t { ranks, stages_per_rank, micro_batches, first_trained_stage };

/// How the legal value of a field is bounded.
enum class ShapeBound : std::uint8_t { at_least, at_most, exactly, multiple_of };

/// One field of a shape that is out of bounds, and the nearest legal value.
struct ShapeFault {
  ShapeField field{};
  int value{};
  ShapeBound bound{};
  int legal{};

  friend constexpr bool operator==(const ShapeFault&, const ShapeFault&) = default;
};

/// The most (stage, micro-batch) pairs that a shape may have; keeps every count in an `int`.
inline constexpr std::int64_t largest_work = std::int64_t{1} << 26;

/// The first field of `shape` that no schedule could use, if there is one.
constexpr std::optional<ShapeFault> shape_fault(PipelineShape shape) {
  using enum ShapeField;
  using enum ShapeBound;
  if (shape.ranks < 1) return ShapeFault{ranks, shape.ranks, at_least, 1};
  if (shape.stages_per_rank < 1)
    return ShapeFault{stages_per_rank, shape.stages_per_rank, at_least, 1};
  if (shape.micro_batches < 1) return ShapeFault{micro_batches, shape.micro_batches, at_least, 1};
  if (shape.ranks > largest_work) return ShapeFault{ranks, shape.ranks, at_most, int{largest_work}};
  const std::int64_t stages = std::int64_t{shape.ranks} * shape.stages_per_rank;
  if (stages > largest_work) {
    return ShapeFault{stages_per_rank, shape.stages_per_rank, at_most,
                      static_cast<int>(largest_work / shape.ranks)};
  }
  if (stages * shape.micro_batches > largest_work) {
    return ShapeFault{micro_batches, shape.micro_batches, at_most,
                      static_cast<int>(largest_work / stages)};
  }
  if (shape.first_trained_stage < 0)
    return ShapeFault{first_trained_stage, shape.first_trained_stage, at_least, 0};
  if (shape.first_trained_stage > shape.stages()) {
    return ShapeFault{first_trained_stage, shape.first_trained_stage, at_most, shape.stages()};
  }
  return std::nullopt;
}

/// The field's name as it is spelled in code.
constexpr std::string_view name_of(ShapeField field) {
  switch (field) {
    case ShapeField::ranks: return "ranks";
    case ShapeField::stages_per_rank: return "stages_per_rank";
    case ShapeField::micro_batches: return "micro_batches";
    case ShapeField::first_trained_stage: return "first_trained_stage";
  }
  return "?";
}

/// The bound in words, to stand before the legal value.
constexpr std::string_view name_of(ShapeBound bound) {
  switch (bound) {
    case ShapeBound::at_least: return "at least";
    case ShapeBound::at_most: return "at most";
    case ShapeBound::exactly: return "exactly";
    case ShapeBound::multiple_of: return "a multiple of";
  }
  return "?";
}

/// A sentence: `stages_per_rank is 2, but must be exactly 1`.
inline std::string describe(const ShapeFault& fault) {
  return std::string{name_of(fault.field)} + " is " + std::to_string(fault.value) +
         ", but must be " + std::string{name_of(fault.bound)} + " " + std::to_string(fault.legal);
}

/// A shape that a schedule cannot have.
struct ShapeError : Error {
  explicit ShapeError(const ShapeFault& shape_fault, std::string_view schedule_name = {})
      : Error((schedule_name.empty() ? std::string{} : std::string{schedule_name} + ": ") +
              describe(shape_fault)),
        fault{shape_fault} {}

  ShapeFault fault;
};

}  // namespace heddle
