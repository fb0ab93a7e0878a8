#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <heddle/schedule/lowering.hpp>
#include <heddle/schedule/schedule.hpp>

namespace heddle {

/// How many forwards a rank runs ahead.
///
/// `classic`: two more for each rank below it, the smallest makespan when a receive blocks where it
/// stands. `shallow`: one more, as `OneFOneB`; smaller peak, same makespan if receives are waited
/// for by their consumer.
enum class Warmup : std::uint8_t { classic, shallow };

/// What becomes of a number of micro-batches that the ranks do not divide.
///
/// `long_rounds`: the surplus enlarges the rounds; smallest makespan. `short_rounds`: the last
/// round is short, its missing micro-batches are idle columns; smallest peak.
enum class Rounds : std::uint8_t { long_rounds, short_rounds };

/// The knobs of Interleaved 1F1B.
struct InterleavedOptions {
  Warmup warmup = Warmup::classic;
  Rounds rounds = Rounds::long_rounds;

  friend constexpr bool operator==(const InterleavedOptions&, const InterleavedOptions&) = default;
};

/// How the micro-batches of Interleaved 1F1B are cut into rounds; all stages of a rank run a round
/// before the next one begins.
struct InterleavedRounds {
  int count = 1;
  int size = 0;    ///< of a round
  int larger = 0;  ///< the first so many rounds have one more

  constexpr explicit InterleavedRounds(PipelineShape shape)
      : count{shape.micro_batches < shape.ranks ? 1 : shape.micro_batches / shape.ranks},
        size{shape.micro_batches / count},
        larger{shape.micro_batches % count} {}

  /// The micro-batches of round `index`.
  constexpr int size_of(int index) const { return size + (index < larger ? 1 : 0); }
};

namespace detail {

/// The shape whose columns are written: with the micro-batches that a short round lacks.
constexpr PipelineShape with_whole_rounds(InterleavedOptions options, PipelineShape shape) {
  if (options.rounds == Rounds::short_rounds) {
    shape.micro_batches = (shape.micro_batches + shape.ranks - 1) / shape.ranks * shape.ranks;
  }
  return shape;
}

/// The forwards that `rank` runs ahead of the last rank.
constexpr int stagger_of(Warmup warmup, PipelineShape shape, int rank) {
  const int below = shape.ranks - 1 - rank;
  return warmup == Warmup::shallow ? below : 2 * below;
}

}  // namespace detail

/// The forwards that `rank` runs before it begins to take one forward and one backward in turn.
constexpr int warm_up(InterleavedOptions options, PipelineShape shape, int rank) {
  shape = detail::with_whole_rounds(options, shape);
  const int ahead = (shape.stages_per_rank - 1) * InterleavedRounds{shape}.size_of(0) +
                    detail::stagger_of(options.warmup, shape, rank);
  const int all = shape.stages_per_rank * shape.micro_batches;
  return ahead < all ? ahead : all;
}

namespace detail {

/// Walks the forwards of a rank, by round, then by chunk; the backwards too, with chunks reversed.
class InterleavedWalk {
 public:
  constexpr explicit InterleavedWalk(PipelineShape shape)
      : rounds_{shape}, chunks_{shape.stages_per_rank}, size_{rounds_.size_of(0)} {}

  constexpr int chunk() const { return chunk_; }
  constexpr int micro_batch() const { return first_ + position_; }

  constexpr void advance() {
    if (++position_ < size_) return;
    position_ = 0;
    if (++chunk_ < chunks_) return;
    chunk_ = 0;
    first_ += size_;
    size_ = rounds_.size_of(++round_);
  }

 private:
  InterleavedRounds rounds_;
  int chunks_;
  int size_;
  int round_ = 0;
  int chunk_ = 0;
  int position_ = 0;
  int first_ = 0;  // micro-batch of the round
};

/// Writes the columns of one rank.
template <class Visit>
class InterleavedColumns {
 public:
  constexpr InterleavedColumns(InterleavedOptions options, PipelineShape asked, int rank,
                               Visit& visit)
      : shape_{with_whole_rounds(options, asked)},
        rank_{rank},
        micro_batches_{asked.micro_batches},
        warm_{warm_up(options, shape_, rank)},
        stagger_{stagger_of(options.warmup, shape_, rank)},
        missing_{shape_.micro_batches < shape_.ranks ? shape_.ranks - shape_.micro_batches : 0},
        forwards_{shape_},
        backwards_{shape_},
        visit_{visit} {}

  constexpr void write() {
    const int last_rank = shape_.ranks - 1;
    const int operations = shape_.stages_per_rank * shape_.micro_batches;
    bubbles(rank_);
    for (int index = 0; index < warm_; ++index) {
      const bool pads = write_forward() && (index + 1 < warm_ || rank_ == last_rank);
      if (pads) bubbles(missing_);
    }
    bubbles(stagger_ - shape_.micro_batches);
    bubbles(last_rank - rank_);
    for (int index = warm_; index < operations; ++index) {
      write_forward();
      if (write_backward() && rank_ == last_rank) bubbles(2 * missing_);
    }
    for (int index = 0; index < warm_; ++index) {
      bubbles(1);
      if (write_backward()) bubbles(2 * missing_);
    }
  }

 private:
  constexpr void bubbles(int count) {
    for (int index = 0; index < count; ++index) visit_(idle);
  }

  /// The next forward; whether it is the last micro-batch of its chunk.
  constexpr bool write_forward() {
    const int micro_batch = forwards_.micro_batch();
    visit_(micro_batch < micro_batches_
               ? forward(micro_batch, forwards_.chunk() * shape_.ranks + rank_)
               : idle);
    forwards_.advance();
    return micro_batch == shape_.micro_batches - 1;
  }

  /// The next backward; whether it is the last micro-batch of its chunk.
  constexpr bool write_backward() {
    const int micro_batch = backwards_.micro_batch();
    const int chunk = shape_.stages_per_rank - 1 - backwards_.chunk();
    visit_(micro_batch < micro_batches_ ? backward(micro_batch, chunk * shape_.ranks + rank_)
                                        : idle);
    backwards_.advance();
    return micro_batch == shape_.micro_batches - 1;
  }

  PipelineShape shape_;  // with rounds filled up if they are short
  int rank_;
  int micro_batches_;
  int warm_;
  int stagger_;
  int missing_;  // micro-batches to a full round where there are fewer than ranks
  InterleavedWalk forwards_;
  InterleavedWalk backwards_;
  Visit& visit_;
};

}  // namespace detail

/// Interleaved 1F1B with options that are known at run time; see `BasicInterleaved1F1B`.
struct RuntimeInterleaved1F1B {
  static constexpr std::string_view name = "interleaved_1f1b";

  InterleavedOptions options{};

  template <class Visit>
  constexpr void visit_columns(PipelineShape shape, int rank, Visit visit) const {
    detail::InterleavedColumns<Visit>{options, shape, rank, visit}.write();
  }

  constexpr std::vector<Step> columns(PipelineShape shape, int rank) const {
    std::vector<Step> steps;
    visit_columns(shape, rank, [&](Step step) { steps.push_back(step); });
    return steps;
  }

  template <class Emit>
  static constexpr void lower(OrderView columns, DataSteps data, Emit emit) {
    detail::lower_by_columns(columns, data, emit);
  }
};

/// 1F1B over several stages a rank: each rank runs a round of micro-batches through one of its
/// stages, then through the next.
///
/// Where micro_batches is a multiple of ranks:
/// Bubble per rank: (ranks - 1) * (forward + backward) of one stage, which is that of 1F1B over the
/// same model divided by stages_per_rank, for stages_per_rank times the messages.
/// Peak live activations, in stages: stages_per_rank * ranks + ranks - 1 - 2 * rank, and never more
/// than stages_per_rank * micro_batches.
///
/// When to use: the bubble of 1F1B hurts and transfers are cheap. `Warmup::shallow` and
/// `Rounds::short_rounds` buy memory with time.
template <InterleavedOptions Options = InterleavedOptions{}>
struct BasicInterleaved1F1B {
  static constexpr std::string_view name = RuntimeInterleaved1F1B::name;
  static constexpr InterleavedOptions options = Options;

  template <class Visit>
  static constexpr void visit_columns(PipelineShape shape, int rank, Visit visit) {
    RuntimeInterleaved1F1B{Options}.visit_columns(shape, rank, visit);
  }

  static constexpr std::vector<Step> columns(PipelineShape shape, int rank) {
    return RuntimeInterleaved1F1B{Options}.columns(shape, rank);
  }

  template <class Emit>
  static constexpr void lower(OrderView columns, DataSteps data, Emit emit) {
    detail::lower_by_columns(columns, data, emit);
  }
};

/// Interleaved 1F1B with its default options.
using Interleaved1F1B = BasicInterleaved1F1B<>;

static_assert(schedule<Interleaved1F1B>);
static_assert(schedule<RuntimeInterleaved1F1B>);

}  // namespace heddle
