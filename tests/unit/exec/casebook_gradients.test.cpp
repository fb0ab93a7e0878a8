// Field problems with gradients: cases C05, C06, C09 and C10 of the casebook.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <heddle/exec/executor.hpp>

#include "support/matrix_pipeline.hpp"

using namespace heddle;
using namespace heddle_test;

namespace {

enum class Type { real, boolean, integer };

/// A tensor with a type of its elements; a gradient of what has none is an empty one.
struct Typed {
  Type type = Type::real;
  Matrix values{};

  friend bool operator==(const Typed&, const Typed&) = default;
};

struct TypedBundle {
  using Value = Typed;
  std::vector<Typed> values{};

  static std::int64_t length(const Typed& value, int) { return value.values.rows(); }
  static Typed narrow(const Typed& value, int dimension, std::int64_t begin, std::int64_t length) {
    return {value.type, matrix::narrow(value.values, dimension, begin, length)};
  }
  void append(Typed value) { values.push_back(std::move(value)); }
  std::size_t size() const { return values.size(); }
};

/// Scales the two real tensors where the mask allows; stage 1 swaps the two last ones.
struct MaskedScale {
  int stage;
  double weight;
  double gradient = 0;
  std::vector<TypedBundle> saved = std::vector<TypedBundle>(4);
  std::vector<TypedBundle> seen{};
  std::vector<std::size_t> gradients_without_values{};

  static Matrix masked(const TypedBundle& bundle, std::size_t at) {
    return matrix::combine(bundle.values[at].values, bundle.values[1].values,
                           [](double value, double mask) { return value * mask; });
  }
  std::size_t second() const { return stage <= 1 ? 3 : 2; }

  TypedBundle forward(MicroBatch micro_batch, TypedBundle inputs) {
    seen.push_back(inputs);
    saved[static_cast<std::size_t>(micro_batch.slot)] = inputs;
    for (const std::size_t at : {std::size_t{0}, second()}) {
      inputs.values[at].values = masked(inputs, at);
      for (double& value : inputs.values[at].values.values()) value *= weight;
    }
    if (stage == 1) std::swap(inputs.values[2], inputs.values[3]);
    return inputs;
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, TypedBundle inputs, const TypedBundle&, Loss&,
                      double scale) {
    const TypedBundle outputs = forward(micro_batch, std::move(inputs));
    double loss = 0;
    begin = outputs;
    for (const std::size_t at : {std::size_t{0}, second()}) {
      for (double& value : begin.values[at].values.values()) {
        loss += value * value;
        value *= 2 * scale;
      }
    }
    return loss;
  }
  TypedBundle backward(MicroBatch micro_batch, TypedBundle gradients) {
    if (gradients.size() == 0) {
      gradients = begin;
    } else {
      gradients_without_values.clear();
      for (std::size_t at = 0; at < gradients.size(); ++at) {
        if (gradients.values[at].values.rows() == 0) gradients_without_values.push_back(at);
      }
    }
    if (stage == 1) std::swap(gradients.values[2], gradients.values[3]);
    const TypedBundle& inputs = saved[static_cast<std::size_t>(micro_batch.slot)];
    TypedBundle result{std::vector<Typed>(4)};
    for (const std::size_t at : {std::size_t{0}, second()}) {
      const Matrix passed = matrix::combine(gradients.values[at].values, inputs.values[1].values,
                                            [](double value, double mask) { return value * mask; });
      for (std::size_t index = 0; index < passed.values().size(); ++index) {
        gradient += passed.values()[index] * inputs.values[at].values.values()[index];
      }
      result.values[at].values = passed;
      for (double& value : result.values[at].values.values()) value *= weight;
    }
    return result;
  }

  TypedBundle begin{};
};

}  // namespace

TEST_CASE("C05: booleans and integers cross a boundary unchanged and get no gradient") {
  const PipelineShape shape{.ranks = 3, .micro_batches = 4};
  const auto rows = 2 * 4;
  Typed mask{Type::boolean, matrix::random_matrix(rows, 8, 3)};
  for (double& value : mask.values.values()) value = value > 0 ? 1 : 0;
  Typed ids{Type::integer, matrix::random_matrix(rows, 8, 4)};
  for (double& value : ids.values.values()) value = std::floor(1e9 * value);
  const Typed wide{Type::real, matrix::random_matrix(rows, 8, 1)};
  const Typed flat{Type::real, matrix::random_matrix(rows, 8, 2)};
  const auto make_stage = [](int stage) { return MaskedScale{stage, stage + 1.5}; };

  std::vector<MaskedScale> expected{make_stage(0), make_stage(1), make_stage(2)};
  std::vector<Piece<TypedBundle>> pieces;
  for (int index = 0; index < 4; ++index) {
    Piece<TypedBundle> piece{{}, {}, 0.25};
    for (const Typed& value : {wide, mask, ids, flat}) {
      piece.inputs.append(TypedBundle::narrow(value, 0, 2 * index, 2));
    }
    pieces.push_back(piece);
  }
  train_unsplit(expected, pieces, 0);
  for (const Mode mode : all_modes) {
    const auto stages = run_pipeline<OneFOneB, TypedBundle>(
        shape, mode, make_stage, mean_loss(0), [&](int, auto& step) {
          step.run({split(wide), split(mask), split(ids), split(flat)}, {});
        });
    for (std::size_t at = 0; at < 3; ++at) {
      CHECK(stages[at].gradient == expected[at].gradient);
      REQUIRE(stages[at].seen.size() == 4);
      for (std::size_t index = 0; index < 4; ++index) {
        CHECK(stages[at].seen[index].values == expected[at].seen[index].values);
      }
    }
    CHECK(stages[2].seen[0].values[3].type == Type::integer);
    CHECK(stages[0].gradients_without_values == std::vector<std::size_t>{1, 2});
    CHECK(stages[1].gradients_without_values == std::vector<std::size_t>{1, 3});
  }
}

namespace {

/// Counts the messages between each two ranks.
template <communicator Inner>
struct CountingCommunicator {
  using Bundle = typename Inner::Bundle;
  Inner inner;
  std::map<std::pair<StepKind, int>, int> sent{};

  int rank() const { return inner.rank(); }
  int size() const { return inner.size(); }
  auto send(Bundle bundle, int peer, MessageId id) {
    ++sent[{id.send.kind, peer}];
    return inner.send(std::move(bundle), peer, id);
  }
  auto receive(int peer, MessageId id) { return inner.receive(peer, id); }
  void all_reduce_sum(std::span<double> numbers, Deadline deadline) {
    inner.all_reduce_sum(numbers, deadline);
  }
  void abort(const Failure& failure) { inner.abort(failure); }
};

/// A layer that may be frozen, may have a second output that nobody uses, may have no parameters.
struct Variant {
  enum class Kind { plain, second_output, no_parameters };

  Layer layer;
  Kind kind = Kind::plain;
  int backwards = 0;
  bool second_gradient_was_absent = true;

  void reserve(int slots) { layer.reserve(slots); }
  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    if (kind == Kind::no_parameters) return MatrixBundle{{inputs[0]}};
    MatrixBundle outputs = layer.forward(micro_batch, MatrixBundle{{inputs[0]}});
    if (kind == Kind::second_output) outputs.append(Matrix{3, 3, 1.0});
    has_two_inputs = inputs.size() == 2;
    return outputs;
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    has_two_inputs = inputs.size() == 2;
    return layer.forward_loss(micro_batch, MatrixBundle{{inputs[0]}}, targets, loss, scale);
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle gradients) {
    ++backwards;
    if (kind == Kind::no_parameters) return gradients;
    if (gradients.size() == 2) {
      second_gradient_was_absent = gradients[1].rows() == 0;
      gradients = MatrixBundle{{gradients[0]}};
    }
    MatrixBundle result = layer.backward(micro_batch, std::move(gradients));
    if (has_two_inputs) result.append(Matrix{});
    return result;
  }

  bool has_two_inputs = false;
};

struct FrozenRun {
  std::vector<Variant> stages{};
  std::vector<std::map<std::pair<StepKind, int>, int>> sent = decltype(sent)(4);
};

template <class Schedule, class MakeStage>
FrozenRun run_frozen(const Problem& problem, PipelineShape shape, Mode mode, MakeStage make_stage) {
  InProcessGroup<MatrixBundle> group{shape.ranks, {.transport = mode.transport}};
  FrozenRun result;
  result.stages.assign(static_cast<std::size_t>(shape.stages()), make_stage(0));
  run_ranks(shape.ranks, [&](int rank) {
    CountingCommunicator<InProcessCommunicator<MatrixBundle>> communicator{
        group.communicator(rank)};
    Executor step{Schedule{},
                  shape,
                  local_stages<Schedule>(shape, rank, make_stage),
                  communicator,
                  mean_loss(matrix::squared_error),
                  {.waiting = mode.waiting, .deadline = patience}};
    step.run({split(problem.inputs)}, {split(problem.targets)});
    const auto at = static_cast<std::size_t>(rank);
    result.sent[at] = communicator.sent;
    result.stages[at] = step.stages()[0];
  });
  return result;
}

}  // namespace

TEST_CASE("C06: a frozen prefix has no backward steps and gets no gradient messages") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4, .first_trained_stage = 2};
  const Problem problem = make_problem(4, 8);
  auto expected = problem.layers();
  train_unsplit(expected, cut(problem, 4), matrix::squared_error);
  for (const Mode mode : all_modes) {
    const auto run = run_frozen<OneFOneB>(problem, shape, mode,
                                          [&](int stage) { return Variant{problem.layer(stage)}; });
    for (std::size_t at = 0; at < 4; ++at) {
      CHECK(run.stages[at].backwards == (at < 2 ? 0 : 4));
      const auto peer = static_cast<int>(at) - 1;
      const auto gradients = run.sent[at].find({StepKind::send_gradient, peer});
      CHECK((gradients == run.sent[at].end() ? 0 : gradients->second) == (at == 3 ? 4 : 0));
    }
    CHECK(run.stages[2].layer.gradient() == expected[2].gradient());
    CHECK(run.stages[3].layer.gradient() == expected[3].gradient());
    CHECK(run.stages[1].layer.gradient() == Matrix{3, 4});
  }
}

TEST_CASE("C06: an output that no stage uses gets no gradient, and both sides know") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4};
  const Problem problem = make_problem(4, 8);
  auto expected = problem.layers();
  train_unsplit(expected, cut(problem, 4), matrix::squared_error);
  for (const Mode mode : all_modes) {
    const auto run = run_frozen<OneFOneB>(problem, shape, mode, [&](int stage) {
      return Variant{problem.layer(stage),
                     stage == 2 ? Variant::Kind::second_output : Variant::Kind::plain};
    });
    CHECK(run.stages[2].second_gradient_was_absent);
    for (std::size_t at = 0; at < 4; ++at) {
      CHECK(run.stages[at].layer.gradient() == expected[at].gradient());
    }
  }
}

TEST_CASE("C06: gradients pass through a stage without parameters") {
  const PipelineShape shape{.ranks = 4, .micro_batches = 4};
  const Problem problem = make_problem(4, 8, [](int) { return 3; });
  std::vector<Layer> expected{problem.layer(0), problem.layer(2), problem.layer(3)};
  train_unsplit(expected, cut(problem, 4), matrix::squared_error);
  for (const Mode mode : all_modes) {
    const auto run = run_frozen<OneFOneB>(problem, shape, mode, [&](int stage) {
      return Variant{problem.layer(stage),
                     stage == 1 ? Variant::Kind::no_parameters : Variant::Kind::plain};
    });
    CHECK(run.stages[0].layer.gradient() == expected[0].gradient());
    CHECK(run.stages[1].layer.gradient() == Matrix{3, 3});
    CHECK(run.stages[2].layer.gradient() == expected[1].gradient());
    CHECK(run.stages[3].layer.gradient() == expected[2].gradient());
  }
}

TEST_CASE("every prefix of an interleaved pipeline can be frozen") {
  for (const Mode mode : all_modes) {
    for (int first = 0; first <= 4; ++first) {
      const PipelineShape shape{2, 2, 5, first};
      const Problem problem = make_problem(4, 10);
      auto expected = problem.layers();
      const double expected_loss = train_unsplit(expected, cut(problem, 5), matrix::squared_error);
      double loss = 0;
      const auto layers = run_pipeline<Interleaved1F1B>(
          shape, mode, [&](int stage) { return problem.layer(stage); },
          mean_loss(matrix::squared_error),
          [&](int, auto& step) {
            const auto result = step.run({split(problem.inputs)}, {split(problem.targets)});
            if (result.has_loss) loss = result.loss;
          });
      CHECK(loss == expected_loss);
      for (int stage = 0; stage < 4; ++stage) {
        const auto at = static_cast<std::size_t>(stage);
        const Matrix& weight = problem.weights[at];
        CHECK(layers[at].gradient() ==
              (stage < first ? Matrix{weight.rows(), weight.columns()} : expected[at].gradient()));
      }
    }
  }
}

namespace {

/// Raises its flag once a gradient that is not finite has passed.
struct Guarded {
  Layer layer;
  int overflow_at = -1;
  bool has_overflow = false;

  void reserve(int slots) { layer.reserve(slots); }
  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    return layer.forward(micro_batch, std::move(inputs));
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    if (micro_batch.index == overflow_at) scale = std::numeric_limits<double>::infinity();
    return layer.forward_loss(micro_batch, std::move(inputs), targets, loss, scale);
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle gradients) {
    MatrixBundle result = layer.backward(micro_batch, std::move(gradients));
    for (const double value : layer.gradient().values()) has_overflow |= !std::isfinite(value);
    return result;
  }
  bool flag() const { return has_overflow; }
};

}  // namespace

TEST_CASE("C09: a loss over valid tokens of two runs is scaled once") {
  const std::vector<std::vector<std::int64_t>> tokens{{10, 2, 7, 5}, {1, 9, 4, 6}};
  const PipelineShape shape{.ranks = 2, .micro_batches = 4};
  const Problem problem = make_problem(2, 44);
  std::vector<std::int64_t> all_tokens;
  std::vector<double> weights;
  for (const auto& run : tokens) {
    for (const auto count : run) {
      all_tokens.push_back(count);
      weights.push_back(static_cast<double>(count) / 44);
    }
  }
  auto expected = problem.layers();
  const double expected_loss =
      train_unsplit(expected, cut(problem, all_tokens, weights), matrix::squared_error);
  const Problem second{problem.weights, matrix::narrow(problem.inputs, 0, 24, 20),
                       matrix::narrow(problem.targets, 0, 24, 20)};
  const Problem first{problem.weights, matrix::narrow(problem.inputs, 0, 0, 24),
                      matrix::narrow(problem.targets, 0, 0, 24)};
  for (const Mode mode : all_modes) {
    double loss = 0;
    const auto layers = run_pipeline<OneFOneB>(
        shape, mode, [&](int stage) { return problem.layer(stage); },
        weighted_loss(
            matrix::squared_error,
            [](const MatrixBundle& targets) { return static_cast<double>(targets[0].rows()); }),
        [&](int, auto& step) {
          const RunOptions options{.total_count = 44};
          const auto one = step.run({split(first.inputs, 0, tokens[0])},
                                    {split(first.targets, 0, tokens[0])}, options);
          const auto two = step.run({split(second.inputs, 0, tokens[1])},
                                    {split(second.targets, 0, tokens[1])}, options);
          if (one.has_loss) loss = one.loss + two.loss;
        });
    CHECK(gradients_of(layers) == gradients_of(expected));
    CHECK(loss == doctest::Approx(expected_loss).epsilon(1e-12));
  }
}

TEST_CASE("C09: an overflow on the last stage makes all ranks skip") {
  const PipelineShape shape{.ranks = 2, .micro_batches = 4};
  const Problem problem = make_problem(2, 8);
  for (const int overflow_at : {-1, 3}) {
    for (const Mode mode : all_modes) {
      std::atomic<int> flagged = 0;
      run_pipeline<OneFOneB>(
          shape, mode,
          [&](int stage) {
            return Guarded{problem.layer(stage), stage == 1 ? overflow_at : -1};
          },
          mean_loss(matrix::squared_error),
          [&](int, auto& step) {
            const auto result = step.run({split(problem.inputs)}, {split(problem.targets)},
                                         {.gradient_scale = 1024});
            if (result.flagged) ++flagged;
          });
      CHECK(flagged == (overflow_at < 0 ? 0 : 2));
    }
  }
}

namespace {

/// Multiplies by weights that other stages may hold too: `inputs * A * B`, of those that it has.
struct TiedStage {
  std::map<char, Matrix> weights;
  std::map<char, Matrix> gradients{};
  std::vector<std::vector<Matrix>> saved{};

  void reserve(int slots) { saved.resize(static_cast<std::size_t>(slots)); }
  MatrixBundle forward(MicroBatch micro_batch, MatrixBundle inputs) {
    auto& kept = saved[static_cast<std::size_t>(micro_batch.slot)];
    kept = {inputs[0]};
    for (const auto& [name, weight] : weights) kept.push_back(matrix::product(kept.back(), weight));
    return MatrixBundle{{kept.back()}};
  }
  template <class Loss>
  double forward_loss(MicroBatch micro_batch, MatrixBundle inputs, const MatrixBundle& targets,
                      Loss& loss, double scale) {
    auto result = loss(forward(micro_batch, std::move(inputs)), targets);
    auto& kept = saved[static_cast<std::size_t>(micro_batch.slot)];
    kept.emplace_back(result.gradient.rows(), result.gradient.columns());
    add(kept.back(), result.gradient, scale);
    return result.loss;
  }
  MatrixBundle backward(MicroBatch micro_batch, MatrixBundle output_gradients) {
    auto& kept = saved[static_cast<std::size_t>(micro_batch.slot)];
    Matrix gradient = output_gradients.size() == 0 ? kept.back() : output_gradients[0];
    std::size_t at = weights.size();
    for (auto each = weights.rbegin(); each != weights.rend(); ++each) {
      const auto& [name, weight] = *each;
      auto [sum, is_new] = gradients.try_emplace(name, weight.rows(), weight.columns());
      add(sum->second, matrix::product(matrix::transposed(kept[--at]), gradient));
      gradient = matrix::product(gradient, matrix::transposed(weight));
    }
    return MatrixBundle{{gradient}};
  }
};

/// Adds up the gradients of the tied weights over all ranks, in the order of their names, and takes
/// a step.
template <class Step, class Communicator>
void descend_tied(Step& step, Communicator& communicator) {
  for (const char name : {'A', 'B'}) {
    std::vector<double> sum(9);
    for (TiedStage& stage : step.stages()) {
      const auto found = stage.gradients.find(name);
      if (found == stage.gradients.end()) continue;
      for (std::size_t index = 0; index < 9; ++index) sum[index] += found->second.values()[index];
    }
    communicator.all_reduce_sum(sum, std::chrono::steady_clock::now() + patience);
    for (TiedStage& stage : step.stages()) {
      const auto weight = stage.weights.find(name);
      if (weight == stage.weights.end()) continue;
      for (std::size_t index = 0; index < 9; ++index) {
        weight->second.values()[index] -= 0.1 * sum[index];
      }
    }
  }
  for (TiedStage& stage : step.stages()) stage.gradients.clear();
}

TiedStage make_tied(int stage) {
  const Matrix a = matrix::random_matrix(3, 3, 7);
  const Matrix b = matrix::random_matrix(3, 3, 8);
  if (stage == 0 || stage == 3) return TiedStage{{{'A', a}, {'B', b}}};
  if (stage == 2) return TiedStage{{{'B', b}}};
  return TiedStage{{{'C', matrix::random_matrix(3, 3, 9)}}};
}

}  // namespace

TEST_CASE("C10: tied weights, also where one rank holds two copies") {
  const Matrix inputs = matrix::random_matrix(8, 3, 1);
  const Matrix targets = matrix::random_matrix(8, 3, 2);
  std::vector<TiedStage> expected;
  for (int stage = 0; stage < 4; ++stage) expected.push_back(make_tied(stage));
  for (int run = 0; run < 3; ++run) {
    train_unsplit(expected, cut(Problem{{}, inputs, targets}, 4), matrix::squared_error);
    InProcessGroup<MatrixBundle> alone{1};
    auto communicator = alone.communicator(0);
    struct {
      std::vector<TiedStage>& all;
      std::vector<TiedStage>& stages() { return all; }
    } step{expected};
    descend_tied(step, communicator);
  }
  for (const PipelineShape shape : {PipelineShape{4, 1, 4}, PipelineShape{2, 2, 4}}) {
    for (const Mode mode : all_modes) {
      InProcessGroup<MatrixBundle> sums{shape.ranks};
      const auto stages = run_pipeline<Interleaved1F1B>(
          shape, mode, make_tied, mean_loss(matrix::squared_error), [&](int rank, auto& step) {
            auto communicator = sums.communicator(rank);
            for (int run = 0; run < 3; ++run) {
              step.run({split(inputs)}, {split(targets)});
              descend_tied(step, communicator);
            }
          });
      for (const char name : {'A', 'B'}) {
        const Matrix& copy = stages[0].weights.at(name);
        CHECK(stages[3].weights.at(name) == copy);
        CHECK(largest_difference({copy}, {expected[0].weights.at(name)}) < 1e-9);
      }
      CHECK(stages[2].weights.at('B') == stages[0].weights.at('B'));
    }
  }
}
