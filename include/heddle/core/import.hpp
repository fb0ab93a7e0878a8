#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <heddle/core/error.hpp>
#include <heddle/core/order.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/step.hpp>

namespace heddle {

/// Where a step stood in the text that it was read from; both numbers count from 1, and a row is a
/// rank.
struct Cell {
  int row = 1;
  int column = 1;
  std::string token;
};

/// An order read from a text, with the cell of every step, so that a fault can name it.
struct ImportedOrder {
  Order order;
  std::vector<Cell> cells;  ///< parallel to `order.steps`

  /// The cell of the step at `position` in the list of `rank`.
  const Cell& cell(int rank, int position) const {
    return cells[static_cast<std::size_t>(order.offsets[static_cast<std::size_t>(rank)] +
                                          position)];
  }
};

/// What a text is held to. A field that is not given is inferred: as many ranks as rows, stages and
/// micro-batches up to the highest number that occurs.
struct ExpectedShape {
  std::optional<int> ranks;
  std::optional<int> stages_per_rank;
  std::optional<int> micro_batches;
  int first_trained_stage = 0;

  ExpectedShape() = default;

  // NOLINTNEXTLINE(google-explicit-constructor): a whole shape is an expectation of every field
  ExpectedShape(PipelineShape shape)
      : ranks{shape.ranks},
        stages_per_rank{shape.stages_per_rank},
        micro_batches{shape.micro_batches},
        first_trained_stage{shape.first_trained_stage} {}
};

namespace detail {

/// The rows of a text as its reader found them.
struct ReadRows {
  std::vector<Step> steps;
  std::vector<Cell> cells;
  std::vector<int> offsets{0};

  int row() const { return static_cast<int>(offsets.size()); }

  void add(Step step, int column, std::string_view token) {
    steps.push_back(step);
    cells.push_back({row(), column, std::string{token}});
  }

  void end_row() { offsets.push_back(static_cast<int>(steps.size())); }
};

[[noreturn]] inline void refuse(const Cell& cell, const std::string& rule) {
  throw FormatError(cell.row, cell.column, cell.token, rule);
}

/// The micro-batch field of these two means something else, or nothing.
inline bool numbers_micro_batch(Step step) {
  return step.micro_batch != no_micro_batch && step.kind != StepKind::broadcast_tower;
}

/// Makes an order of the rows that a reader found: infers the shape, or holds the rows to it.
class OrderInference {
 public:
  OrderInference(ReadRows rows, const ExpectedShape& expected)
      : rows_{std::move(rows)}, expected_{expected} {}

  ImportedOrder finish() {
    if (rows_.steps.empty()) throw FormatError(1, 1, "", "there is no step in this text");
    find_highest();
    const PipelineShape shape{.ranks = ranks(),
                              .stages_per_rank = stages_per_rank(),
                              .micro_batches = micro_batches(),
                              .first_trained_stage = expected_.first_trained_stage};
    if (const auto fault = shape_fault(shape)) throw ShapeError(*fault);
    ImportedOrder imported;
    imported.order.shape = shape;
    imported.order.rank_of_stage = ranks_of_stages(shape);
    imported.order.offsets = std::move(rows_.offsets);
    imported.order.steps = std::move(rows_.steps);
    imported.order.owner_of_micro_batch = infer_owners(imported.order);
    imported.cells = std::move(rows_.cells);
    return imported;
  }

 private:
  void find_highest() {
    for (std::size_t index = 0; index < rows_.steps.size(); ++index) {
      const Step step = rows_.steps[index];
      if (step.stage > rows_.steps[highest_stage_].stage) highest_stage_ = index;
      if (numbers_micro_batch(step) && step.micro_batch > highest_micro_batch())
        highest_micro_batch_ = index;
    }
  }

  int highest_micro_batch() const {
    const Step step = rows_.steps[highest_micro_batch_];
    return numbers_micro_batch(step) ? step.micro_batch : no_micro_batch;
  }

  int ranks() const {
    const int found = rows_.row() - 1;
    const int wanted = expected_.ranks.value_or(found);
    if (found != wanted) {
      throw FormatError((found < wanted ? found : wanted) + 1, 1, "",
                        "the text has " + std::to_string(found) + " rows, but there are " +
                            std::to_string(wanted) + " ranks, one a row");
    }
    return found;
  }

  int stages_per_rank() const {
    const Cell& cell = rows_.cells[highest_stage_];
    const std::int64_t found = std::int64_t{rows_.steps[highest_stage_].stage} + 1;
    const std::int64_t ranks = rows_.row() - 1;
    const std::int64_t stages =
        expected_.stages_per_rank ? *expected_.stages_per_rank * ranks : found;
    if (found == 0) refuse(cell, "no row computes a stage");
    if (found > stages) refuse(cell, "the highest stage is " + std::to_string(stages - 1));
    if (stages % ranks != 0) {
      refuse(cell, "stages 0 to " + std::to_string(found - 1) + " cannot be shared evenly by " +
                       std::to_string(ranks) + " ranks (rows)");
    }
    if (stages > static_cast<std::int64_t>(rows_.steps.size())) {
      refuse(cell, "there are fewer steps than the " + std::to_string(stages) + " stages");
    }
    return static_cast<int>(stages / ranks);
  }

  int micro_batches() const {
    const int found = highest_micro_batch();
    if (found < 0) refuse(rows_.cells.front(), "no step names a micro-batch");
    if (expected_.micro_batches && found >= *expected_.micro_batches) {
      refuse(rows_.cells[highest_micro_batch_],
             "the highest micro-batch is " + std::to_string(*expected_.micro_batches - 1));
    }
    return expected_.micro_batches.value_or(found + 1);
  }

  /// The rank of a stage is the row that computes it most often, so that one stray cell is the one
  /// found at fault.
  std::vector<int> ranks_of_stages(PipelineShape shape) const {
    const auto stages = static_cast<std::size_t>(shape.stages());
    std::vector<int> owner(stages, -1);
    std::vector<int> most(stages, 0);
    std::vector<int> count(stages, 0);
    for (int rank = 0; rank < shape.ranks; ++rank) {
      const auto steps = OrderView{shape, {}, rows_.offsets, rows_.steps}.rank(rank);
      for (const Step step : steps) {
        if (is_compute(step.kind)) ++count[static_cast<std::size_t>(step.stage)];
      }
      for (const Step step : steps) {
        if (!is_compute(step.kind)) continue;
        const auto stage = static_cast<std::size_t>(step.stage);
        if (count[stage] > most[stage]) {
          most[stage] = count[stage];
          owner[stage] = rank;
        }
        count[stage] = 0;
      }
    }
    for (std::size_t stage = 0; stage < owner.size(); ++stage) {
      if (owner[stage] >= 0) continue;
      refuse(rows_.cells[highest_stage_], "no row computes stage " + std::to_string(stage) +
                                              " of stages 0 to " +
                                              std::to_string(shape.stages() - 1));
    }
    return owner;
  }

  ReadRows rows_;
  ExpectedShape expected_;
  std::size_t highest_stage_ = 0;
  std::size_t highest_micro_batch_ = 0;
};

}  // namespace detail

}  // namespace heddle
