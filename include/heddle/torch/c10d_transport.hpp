#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include <heddle/core/error.hpp>
#include <heddle/core/step.hpp>
#include <heddle/exec/communicator.hpp>
#include <heddle/torch/boundary.hpp>
#include <heddle/torch/c10d_link.hpp>

namespace heddle {

/// How often the description of a boundary (dtypes, shapes, which slots carry a gradient, which are
/// absent) travels ahead of its tensors.
enum class BoundaryShapes : std::uint8_t {
  fixed,            ///< with the first message of an edge; all others must be the same
  per_step,         ///< with the first message of an edge in each run
  per_micro_batch,  ///< with every message
};

namespace detail {

using SharedDescription = std::shared_ptr<const BundleDescription>;

/// A receive under way. Its tensors are posted as soon as their description is known.
struct C10dIncoming {
  MessageId id;
  int peer = 0;
  SharedDescription description;
  at::Tensor header;  ///< of a message that brings its description along
  C10dWork header_work;
  std::vector<at::Tensor> slots;
  std::vector<C10dWork> works;
};

/// The messages of one kind between two stages in one direction.
struct C10dEdge {
  SharedDescription agreed;
  int run = std::numeric_limits<int>::min();           ///< of `agreed`, where that matters
  std::vector<SharedDescription> of_micro_batch;       ///< where each brings its own
  std::shared_ptr<C10dIncoming> first;                 ///< brings the description, not yet here
  std::vector<std::shared_ptr<C10dIncoming>> waiting;  ///< for that description
};

/// Evaluations have edges of their own: their boundaries carry no gradient and other shapes.
struct C10dEdgeKey {
  int peer;
  StepKind kind;
  int stage;
  bool outgoing;
  bool evaluates;

  friend auto operator<=>(const C10dEdgeKey&, const C10dEdgeKey&) = default;
};

/// Turns bundles into messages and back.
class C10dTransport {
 public:
  C10dTransport(std::unique_ptr<C10dGroup> group, c10::intrusive_ptr<c10d::Store> store,
                BoundaryShapes shapes)
      : link_{std::move(group), std::move(store)}, shapes_{shapes} {}

  C10dLink& link() { return link_; }

  std::vector<C10dWork> send(std::span<const at::Tensor> slots, int peer, const MessageId& id) {
    return answers_forward(id.send.kind) ? send_gradient(slots, peer, id)
                                         : send_forward(slots, peer, id);
  }

  std::shared_ptr<C10dIncoming> receive(int peer, const MessageId& id) {
    auto incoming = std::make_shared<C10dIncoming>();
    incoming->id = id;
    incoming->peer = peer;
    if (answers_forward(id.send.kind)) {
      post(*incoming, forward_description(peer, id, true));
      return incoming;
    }
    C10dEdge& edge = edge_of(peer, id, false);
    if (needs_description(edge, id)) {
      incoming->header = at::empty({header_words}, at::kLong);
      incoming->header_work =
          link_.receive(incoming->header, peer, tag_of(id.send, 0), [&] { return describe(id); });
      edge.agreed.reset();
      edge.run = id.run;
      edge.first = incoming;
      edge.waiting.clear();
    } else if (edge.agreed) {
      post(*incoming, edge.agreed);
    } else {
      edge.waiting.push_back(incoming);
    }
    return incoming;
  }

  /// Waits for a receive; its tensors are complete afterwards.
  void complete(C10dIncoming& incoming, Deadline deadline) {
    if (!incoming.description) settle(incoming, deadline);
    for (const auto& work : incoming.works) {
      link_.await(work, deadline, incoming.peer, [&] { return describe(incoming.id); });
    }
    if (answers_forward(incoming.id.send.kind)) return;
    for (std::size_t slot = 0; slot < incoming.slots.size(); ++slot) {
      if ((*incoming.description)[slot].carries_gradient)
        incoming.slots[slot].set_requires_grad(true);
    }
  }

 private:
  static constexpr std::int64_t magic = 0x48454444'4C450001;
  static constexpr std::int64_t header_words = 64;
  static constexpr std::int64_t header_prefix = 6;  // magic, kind, micro-batch, stage, run, length

  static constexpr bool answers_forward(StepKind kind) {
    return kind == StepKind::send_gradient || kind == StepKind::send_feature_gradient;
  }

  /// The forward message that the gradient message `id` answers.
  static constexpr MessageId answered_by(MessageId id) {
    if (id.send.kind == StepKind::send_gradient) {
      return {{StepKind::send_activation, id.send.micro_batch, id.send.stage - 1}, id.run};
    }
    return {{StepKind::send_feature, id.send.micro_batch, id.send.stage}, id.run};
  }

  C10dEdge& edge_of(int peer, const MessageId& id, bool outgoing) {
    return edges_[{peer, id.send.kind, id.send.stage, outgoing, id.run < 0}];
  }

  bool needs_description(const C10dEdge& edge, const MessageId& id) const {
    switch (shapes_) {
      case BoundaryShapes::fixed: return !edge.agreed && !edge.first;
      case BoundaryShapes::per_step: return edge.run != id.run;
      case BoundaryShapes::per_micro_batch: return true;
    }
    return true;
  }

  void remember(C10dEdge& edge, const MessageId& id, SharedDescription description) {
    if (shapes_ == BoundaryShapes::per_micro_batch) {
      const auto index = static_cast<std::size_t>(id.send.micro_batch);
      if (edge.of_micro_batch.size() <= index) edge.of_micro_batch.resize(index + 1);
      edge.of_micro_batch[index] = std::move(description);
    } else {
      edge.agreed = std::move(description);
      edge.run = id.run;
    }
  }

  /// What the activation was that the gradient `id` answers; `outgoing` seen from this rank.
  const SharedDescription& forward_description(int peer, const MessageId& id, bool outgoing) {
    const MessageId forward = answered_by(id);
    const C10dEdge& edge = edge_of(peer, forward, outgoing);
    const auto index = static_cast<std::size_t>(id.send.micro_batch);
    const bool own = shapes_ == BoundaryShapes::per_micro_batch;
    if (own ? index >= edge.of_micro_batch.size() || !edge.of_micro_batch[index] : !edge.agreed) {
      throw Error("the " + describe(id) + " has no " + describe(forward) + " before it");
    }
    return own ? edge.of_micro_batch[index] : edge.agreed;
  }

  std::vector<C10dWork> send_forward(std::span<const at::Tensor> slots, int peer,
                                     const MessageId& id) {
    C10dEdge& edge = edge_of(peer, id, true);
    std::vector<C10dWork> works;
    works.reserve(slots.size() + 1);
    const auto words = [&] { return describe(id); };
    if (needs_description(edge, id)) {
      auto description = std::make_shared<const BundleDescription>(description_of(slots));
      send_description(*description, peer, id, works);
      remember(edge, id, std::move(description));
    } else {
      check_boundary(*edge.agreed, slots, id, advice());
    }
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (!slots[slot].defined() || slots[slot].numel() == 0) continue;
      works.push_back(
          link_.send(wire_form(slots[slot], slot, id), peer, tag_of_slot(id, slot), words));
    }
    return works;
  }

  std::vector<C10dWork> send_gradient(std::span<const at::Tensor> slots, int peer,
                                      const MessageId& id) {
    const BundleDescription& description = *forward_description(peer, id, false);
    if (!slots.empty() && slots.size() != description.size()) {
      throw Error("the " + describe(id) + " has " + std::to_string(slots.size()) +
                  " slots, but the activation that it answers had " +
                  std::to_string(description.size()));
    }
    std::vector<C10dWork> works;
    works.reserve(description.size());
    for (std::size_t slot = 0; slot < description.size(); ++slot) {
      const auto& [present, carries_gradient, dtype, sizes] = description[slot];
      if (!present || !carries_gradient) continue;
      at::Tensor gradient = slots.empty() ? at::Tensor{} : slots[slot];
      if (!gradient.defined()) gradient = at::zeros(sizes, dtype);
      if (gradient.scalar_type() != dtype || gradient.sizes() != at::IntArrayRef{sizes}) {
        throw Error("the " + describe(id) + " is " + words_of(description_of(gradient)) +
                    " in slot " + std::to_string(slot) + ", but its activation was " +
                    words_of(description[slot]));
      }
      if (gradient.numel() == 0) continue;
      works.push_back(link_.send(wire_form(gradient, slot, id), peer, tag_of_slot(id, slot),
                                 [&] { return describe(id); }));
    }
    return works;
  }

  /// The first message holds as much as nearly all descriptions need; a second one brings the rest.
  void send_description(const BundleDescription& description, int peer, const MessageId& id,
                        std::vector<C10dWork>& works) {
    const auto words = encoded(description);
    const auto length = static_cast<std::int64_t>(words.size());
    const auto all = std::max(header_words, header_prefix + length);
    at::Tensor message = at::zeros({all}, at::kLong);
    const std::array<std::int64_t, header_prefix> prefix = prefix_of(id, length);
    std::copy(prefix.begin(), prefix.end(), message.data_ptr<std::int64_t>());
    std::copy(words.begin(), words.end(), message.data_ptr<std::int64_t>() + header_prefix);
    const auto name = [&] { return describe(id); };
    works.push_back(link_.send(message.narrow(0, 0, header_words), peer, tag_of(id.send, 0), name));
    if (all > header_words) {
      works.push_back(link_.send(message.narrow(0, header_words, all - header_words), peer,
                                 tag_of(id.send, 1), name));
    }
  }

  BundleDescription await_description(C10dIncoming& incoming, Deadline deadline) {
    const auto name = [&] { return describe(incoming.id); };
    link_.await(incoming.header_work, deadline, incoming.peer, name);
    const auto* begin = incoming.header.data_ptr<std::int64_t>();
    const std::int64_t length = begin[header_prefix - 1];
    const auto expected = prefix_of(incoming.id, length);
    if (!std::equal(expected.begin(), expected.end(), begin) || length < 0) {
      throw Error("rank " + std::to_string(link_.rank()) + " awaited the " + name() +
                  " from rank " + std::to_string(incoming.peer) + ", but got another message");
    }
    constexpr std::int64_t room = header_words - header_prefix;
    std::vector<std::int64_t> words(begin + header_prefix,
                                    begin + header_prefix + std::min(length, room));
    if (length > room) {
      const at::Tensor rest = at::empty({length - room}, at::kLong);
      const auto work = link_.receive(rest, incoming.peer, tag_of(incoming.id.send, 1), name);
      link_.await(work, deadline, incoming.peer, name);
      const auto* more = rest.data_ptr<std::int64_t>();
      words.insert(words.end(), more, more + (length - room));
    }
    return decoded(words);
  }

  static constexpr std::array<std::int64_t, header_prefix> prefix_of(const MessageId& id,
                                                                     std::int64_t length) {
    return {
        magic, static_cast<std::int64_t>(id.send.kind), id.send.micro_batch, id.send.stage, id.run,
        length};
  }

  /// Waits for the description that `incoming` needs and posts all that needed it.
  void settle(C10dIncoming& incoming, Deadline deadline) {
    C10dEdge& edge = edge_of(incoming.peer, incoming.id, false);
    const std::shared_ptr<C10dIncoming> first = edge.first;
    C10dIncoming& bringer = incoming.header_work ? incoming : *first;
    auto description =
        std::make_shared<const BundleDescription>(await_description(bringer, deadline));
    post(bringer, description);
    remember(edge, bringer.id, description);
    if (shapes_ == BoundaryShapes::per_micro_batch) return;
    for (const auto& waiting : edge.waiting) post(*waiting, description);
    edge.waiting.clear();
    edge.first.reset();
  }

  void post(C10dIncoming& incoming, const SharedDescription& description) {
    const bool gradient = answers_forward(incoming.id.send.kind);
    incoming.description = description;
    incoming.slots.resize(description->size());
    incoming.works.reserve(description->size());
    for (std::size_t slot = 0; slot < description->size(); ++slot) {
      const auto& [present, carries_gradient, dtype, sizes] = (*description)[slot];
      if (!present || (gradient && !carries_gradient)) continue;
      incoming.slots[slot] = at::empty(sizes, dtype);
      if (incoming.slots[slot].numel() == 0) continue;
      incoming.works.push_back(link_.receive(incoming.slots[slot], incoming.peer,
                                             tag_of_slot(incoming.id, slot),
                                             [&] { return describe(incoming.id); }));
    }
  }

  static int tag_of_slot(const MessageId& id, std::size_t slot) {
    constexpr std::size_t first_part = 2;  // 0 and 1 are the description
    constexpr std::size_t parts = 62;
    return tag_of(id.send, static_cast<int>(first_part + slot % parts));
  }

  static at::Tensor wire_form(const at::Tensor& tensor, std::size_t slot, const MessageId& id) {
    if (!tensor.device().is_cpu()) {
      throw Error("slot " + std::to_string(slot) + " of the " + describe(id) + " lies on " +
                  tensor.device().str() +
                  ", but a C10dCommunicator carries tensors of the CPU; move it there, or use "
                  "NcclCommunicator");
    }
    return (tensor.requires_grad() ? tensor.detach() : tensor).contiguous();
  }

  const char* advice() const {
    if (shapes_ == BoundaryShapes::fixed) {
      return " and shapes are fixed here; use BoundaryShapes::per_step or per_micro_batch";
    }
    return " in this run; use BoundaryShapes::per_micro_batch";
  }

  C10dLink link_;
  BoundaryShapes shapes_;
  std::map<C10dEdgeKey, C10dEdge> edges_;
};

}  // namespace detail
}  // namespace heddle
