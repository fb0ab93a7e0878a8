#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>

#include <heddle/core/order.hpp>
#include <heddle/core/placement.hpp>
#include <heddle/core/shape.hpp>
#include <heddle/core/text_scanner.hpp>

namespace heddle_test {

/// A small order read from the text form, at compile time too; its shape is said, not inferred.
struct Draft {
  heddle::PipelineShape shape;
  std::array<int, 8> rank_of_stage{};
  std::array<int, 9> offsets{};
  std::array<heddle::Step, 96> steps{};
  std::array<int, 8> owners{};
  std::size_t owned = 0;

  constexpr Draft(heddle::PipelineShape order_shape, std::string_view text,
                  heddle::Placement placement = heddle::Placement::loop)
      : shape{order_shape} {
    using What = heddle::detail::TextItem::What;
    for (int stage = 0; stage < shape.stages(); ++stage) {
      rank_of_stage.at(static_cast<std::size_t>(stage)) =
          heddle::rank_of(placement, shape.ranks, stage);
    }
    heddle::detail::TextScanner scanner{text};
    std::size_t rank = 0;
    int count = 0;
    for (auto item = scanner.next(); rank < static_cast<std::size_t>(shape.ranks);
         item = scanner.next()) {
      if (item.what == What::bad) throw std::invalid_argument("a draft that cannot be read");
      if (item.what == What::step) steps.at(static_cast<std::size_t>(count++)) = item.step;
      if (item.what == What::rank_end || item.what == What::end) offsets.at(++rank) = count;
      if (item.what == What::end) break;
    }
    if (rank != static_cast<std::size_t>(shape.ranks)) throw std::invalid_argument("too few ranks");
    for (const int owner : heddle::infer_owners(view())) owners.at(owned++) = owner;
  }

  constexpr heddle::OrderView view() const {
    return {shape, std::span{rank_of_stage}.first(static_cast<std::size_t>(shape.stages())),
            std::span{offsets}.first(static_cast<std::size_t>(shape.ranks) + 1), steps,
            std::span{owners}.first(owned)};
  }
};

}  // namespace heddle_test
