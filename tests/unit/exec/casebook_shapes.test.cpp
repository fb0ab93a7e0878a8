// Field problems with shapes and sizes: cases C01 to C04 and C14 of the casebook.
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

const auto row_count = [](const MatrixBundle& targets) {
  return static_cast<double>(targets[0].rows());
};

/// Multiplies by a factor and adds columns of zeros.
struct Widen {
  double factor;
  std::int64_t columns;

  MatrixBundle forward(MicroBatch, MatrixBundle inputs) const {
    return MatrixBundle{{resized(inputs[0], columns)}};
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    auto result = loss(forward(micro_batch, std::move(inputs)), targets);
    begin = matrix::Matrix{result.gradient.rows(), result.gradient.columns()};
    add(begin, result.gradient, scale);
    return result.loss;
  }
  MatrixBundle backward(MicroBatch, MatrixBundle gradients) {
    const Matrix& gradient = gradients.size() == 0 ? begin : gradients[0];
    for (const double value : gradient.values()) sum += value;
    return MatrixBundle{{resized(gradient, 16)}};
  }

  Matrix resized(const Matrix& matrix, std::int64_t width) const {
    Matrix result{matrix.rows(), width};
    for (std::int64_t row = 0; row < matrix.rows(); ++row) {
      for (std::int64_t column = 0; column < std::min(width, matrix.columns()); ++column) {
        result.at(row, column) = factor * matrix.at(row, column);
      }
    }
    return result;
  }

  Matrix begin{};
  double sum = 0;
};

/// Trains one batch that is cut into parts of given sizes.
template <class Schedule>
std::vector<Matrix> train_sized(const Problem& problem, PipelineShape shape, Mode mode,
                                const std::vector<std::vector<std::int64_t>>& sizes_of_runs) {
  return gradients_of(run_pipeline<Schedule>(
      shape, mode, [&](int stage) { return problem.layer(stage); },
      weighted_loss(matrix::squared_error, row_count),
      [&](int, auto& step) {
        for (const auto& sizes : sizes_of_runs) {
          step.run({split(problem.inputs, 0, sizes)}, {split(problem.targets, 0, sizes)});
        }
      }));
}

std::vector<Matrix> train_sized_unsplit(
    const Problem& problem, const std::vector<std::vector<std::int64_t>>& sizes_of_runs) {
  auto layers = problem.layers();
  for (const auto& sizes : sizes_of_runs) {
    std::vector<double> weights;
    for (const auto size : sizes) {
      weights.push_back(static_cast<double>(size) / static_cast<double>(problem.inputs.rows()));
    }
    train_unsplit(layers, cut(problem, sizes, weights), matrix::squared_error);
  }
  return gradients_of(layers);
}

}  // namespace

TEST_CASE("C01: fewer micro-batches than stages") {
  const auto width = [](int) { return 32; };
  for (const Mode mode : all_modes) {
    const PipelineShape one{.ranks = 8, .micro_batches = 1};
    CHECK(equals_unsplit<OneFOneB>(make_problem(8, 32, width), one, mode));
    CHECK(equals_unsplit<GPipe>(make_problem(8, 32, width), one, mode));
    const PipelineShape two{.ranks = 4, .micro_batches = 2};
    CHECK(equals_unsplit<OneFOneB>(make_problem(4, 64, width), two, mode));
    for (const int micro_batches : {1, 2, 3}) {
      const PipelineShape shape{4, 2, micro_batches};
      CHECK(
          equals_unsplit<Interleaved1F1B>(make_problem(8, 32 * micro_batches, width), shape, mode));
    }
  }
}

TEST_CASE("C01: the peaks of 1F1B with two micro-batches on four ranks are 2 2 2 1") {
  const Problem problem = make_problem(4, 4);
  std::vector<int> peaks(4);
  run_pipeline<OneFOneB>(
      {.ranks = 4, .micro_batches = 2}, Mode{}, [&](int stage) { return problem.layer(stage); },
      mean_loss(matrix::squared_error),
      [&](int rank, auto& step) {
        step.run({split(problem.inputs)}, {split(problem.targets)});
        peaks[static_cast<std::size_t>(rank)] = step.peaks().slots;
      });
  CHECK(peaks == std::vector<int>{2, 2, 2, 1});
}

TEST_CASE("C02: two ranks with two chunks, where previous and next are the same rank") {
  const PipelineShape shape{.ranks = 2, .stages_per_rank = 2, .micro_batches = 4};
  const std::vector<std::int64_t> widths{16, 24, 40, 40};
  const Matrix inputs = matrix::random_matrix(8 * 4, 16, 1);
  const Matrix targets = matrix::random_matrix(8 * 4, 40, 2);
  const auto make_stage = [&](int stage) {
    return Widen{stage + 2.0, widths[static_cast<std::size_t>(stage)]};
  };
  std::vector<Widen> expected;
  for (int stage = 0; stage < 4; ++stage) expected.push_back(make_stage(stage));
  const double expected_loss = train_unsplit(
      expected, cut(Problem{{}, inputs, targets}, shape.micro_batches), matrix::squared_error);
  for (const Mode mode : all_modes) {
    double loss = 0;
    const auto stages = run_pipeline<Interleaved1F1B>(
        shape, mode, make_stage, mean_loss(matrix::squared_error), [&](int rank, auto& step) {
          const auto result = step.run({split(inputs)}, {split(targets)});
          if (result.has_loss) loss = result.loss;
          CHECK(step.peaks().slots == (rank == 0 ? 5 : 3));
        });
    CHECK(loss == expected_loss);
    for (std::size_t at = 0; at < 4; ++at) CHECK(stages[at].sum == expected[at].sum);
  }
}

TEST_CASE("C03: another length for every micro-batch") {
  const auto width = [](int) { return 32; };
  std::vector<std::int64_t> sizes;
  for (int index = 0; index < 8; ++index) sizes.push_back(2 * (16 + 4 * (index % 5)));
  const std::vector<std::vector<std::int64_t>> runs{sizes, {sizes.rbegin(), sizes.rend()}};
  const auto rows = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const Problem four = make_problem(4, rows, width);
  const Problem eight = make_problem(8, rows, width);
  for (const Mode mode : all_modes) {
    CHECK(train_sized<OneFOneB>(four, {4, 1, 8}, mode, runs) == train_sized_unsplit(four, runs));
    CHECK(train_sized<Interleaved1F1B>(eight, {4, 2, 8}, mode, runs) ==
          train_sized_unsplit(eight, runs));
  }
}

TEST_CASE("C04: uneven micro-batches weigh by their rows") {
  const Problem problem = make_problem(3, 8);
  const auto all_rows = train_sized_unsplit(problem, {{8}});
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{3, 3, 2}, std::vector<std::int64_t>{5, 1, 2}}) {
    for (const Mode mode : all_modes) {
      const auto gradients = train_sized<OneFOneB>(problem, {3, 1, 3}, mode, {sizes});
      CHECK(gradients == train_sized_unsplit(problem, {sizes}));
      CHECK(largest_difference(gradients, all_rows) < 1e-12);
    }
  }
}

TEST_CASE("C04: a batch that does not divide, or is averaged as if it did, is refused in words") {
  const Problem problem = make_problem(3, 8);
  const auto error_of = [&](auto call) {
    std::string message;
    run_pipeline<OneFOneB>(
        {.ranks = 3, .micro_batches = 3}, Mode{}, [&](int stage) { return problem.layer(stage); },
        mean_loss(matrix::squared_error),
        [&](int rank, auto& step) {
          try {
            call(step);
          } catch (const Error& error) {
            if (rank == 0) message = error.what();
          }
        });
    return message;
  };
  CHECK(
      error_of([&](auto& step) { step.run({split(problem.inputs)}, {split(problem.targets)}); }) ==
      "input 0: 8 rows along dimension 0 do not divide by 3 micro-batches; give the sizes, e.g. "
      "split(x, 0, {3, 3, 2})");
  CHECK(error_of([&](auto& step) {
          step.run({split(problem.inputs, 0, {3, 3, 2})}, {split(problem.targets, 0, {3, 3, 2})});
        }).find("use weighted_loss") != std::string::npos);
  CHECK(error_of([&](auto& step) {
          step.run({split(problem.inputs, 0, {3, 5})}, {split(problem.targets, 0, {3, 3, 2})});
        }) == "input 0: 2 sizes are given for 3 micro-batches");
  CHECK(error_of([&](auto& step) {
          step.run({replicate(problem.inputs)}, {split(problem.targets, 0, {3, 3, 3})});
        }) == "target 0: the sizes add up to 9, but there are 8 rows along dimension 0");
}

namespace {

/// Takes tokens (a column), the offsets of the documents (a column) and a temperature; gives each
/// token the sum of its document times the temperature, and passes the other two on.
struct SumInDocuments {
  std::vector<Matrix> offsets_seen{};
  std::vector<MatrixBundle> saved = std::vector<MatrixBundle>(2);

  static Matrix sums(const Matrix& tokens, const Matrix& offsets, double temperature) {
    Matrix result{tokens.rows(), 1};
    for (std::int64_t at = 0; at + 1 < offsets.rows(); ++at) {
      const auto begin = static_cast<std::int64_t>(offsets.at(at, 0));
      const auto end = static_cast<std::int64_t>(offsets.at(at + 1, 0));
      double sum = 0;
      for (auto row = begin; row < end; ++row) sum += tokens.at(row, 0);
      for (auto row = begin; row < end; ++row) result.at(row, 0) = temperature * sum;
    }
    return result;
  }

  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    offsets_seen.push_back(inputs[1]);
    saved[static_cast<std::size_t>(micro_batch.slot)] = inputs;
    inputs[0] = sums(inputs[0], inputs[1], inputs[2].at(0, 0));
    return inputs;
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    auto result = loss(forward(micro_batch, std::move(inputs)), targets);
    begin = Matrix{result.gradient.rows(), 1};
    add(begin, result.gradient, scale);
    return result.loss;
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle gradients) {
    const MatrixBundle& inputs = saved[static_cast<std::size_t>(micro_batch.slot)];
    const Matrix& gradient = gradients.size() == 0 ? begin : gradients[0];
    input_gradient = sums(gradient, inputs[1], inputs[2].at(0, 0));
    return MatrixBundle{{input_gradient, {}, {}}};
  }

  Matrix begin{};
  Matrix input_gradient{};
};

Matrix column(const std::vector<double>& values) {
  Matrix result{static_cast<std::int64_t>(values.size()), 1};
  result.values() = values;
  return result;
}

}  // namespace

TEST_CASE("C14: packed sequences, each input with a rule of its own") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 2};
  const Matrix tokens = matrix::random_matrix(12, 1, 1);
  const Matrix targets = matrix::random_matrix(12, 1, 2);
  const Matrix temperature = column({0.5});
  const std::vector<Matrix> offsets{column({0, 3, 7}), column({0, 2, 5})};
  const auto own_documents = [](const Matrix& all, int micro_batch, int) {
    Matrix part = matrix::narrow(all, 0, 2 * micro_batch, 3);
    const double begin = part.at(0, 0);
    for (double& value : part.values()) value -= begin;
    return part;
  };
  std::vector<Piece<>> pieces;
  for (int index = 0; index < 2; ++index) {
    const auto rows = index == 0 ? 7 : 5;
    pieces.push_back({MatrixBundle{{matrix::narrow(tokens, 0, 7 * index, rows),
                                    offsets[static_cast<std::size_t>(index)], temperature}},
                      MatrixBundle{{matrix::narrow(targets, 0, 7 * index, rows)}}, rows / 12.0});
  }
  std::vector<SumInDocuments> expected(2);
  const double expected_loss = train_unsplit(expected, pieces, matrix::squared_error);
  for (const Mode mode : all_modes) {
    double loss = 0;
    const auto stages = run_pipeline<OneFOneB>(
        shape, mode, [](int) { return SumInDocuments{}; },
        weighted_loss(matrix::squared_error, row_count),
        [&](int, auto& step) {
          const auto result =
              step.run({split(tokens, 0, {7, 5}), split_by(column({0, 3, 7, 9, 12}), own_documents),
                        replicate(temperature)},
                       {split(targets, 0, {7, 5})});
          if (result.has_loss) loss = result.loss;
        });
    CHECK(loss == expected_loss);
    for (std::size_t stage = 0; stage < 2; ++stage) {
      CHECK(stages[stage].offsets_seen == offsets);
      CHECK(stages[stage].input_gradient == expected[stage].input_gradient);
    }
  }
}
