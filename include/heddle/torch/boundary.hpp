#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <heddle/core/error.hpp>
#include <heddle/exec/communicator.hpp>

namespace heddle::detail {

/// What the other side must know of one slot of a boundary before it can receive it.
struct SlotDescription {
  bool present = false;
  bool carries_gradient = false;
  at::ScalarType dtype = at::ScalarType::Float;
  std::vector<std::int64_t> sizes;

  friend bool operator==(const SlotDescription&, const SlotDescription&) = default;
};

using BundleDescription = std::vector<SlotDescription>;

inline SlotDescription description_of(const at::Tensor& slot) {
  if (!slot.defined()) return {};
  return {true, slot.requires_grad(), slot.scalar_type(), slot.sizes().vec()};
}

inline BundleDescription description_of(std::span<const at::Tensor> slots) {
  BundleDescription description;
  description.reserve(slots.size());
  for (const auto& slot : slots) description.push_back(description_of(slot));
  return description;
}

/// Whether `slot` is as described, without making a description of it.
inline bool matches(const SlotDescription& description, const at::Tensor& slot) {
  if (!description.present) return !slot.defined();
  return slot.defined() && slot.scalar_type() == description.dtype &&
         slot.sizes() == at::IntArrayRef{description.sizes} &&
         slot.requires_grad() == description.carries_gradient;
}

/// `Float [2, 8, 16] with gradient`.
inline std::string words_of(const SlotDescription& slot) {
  if (!slot.present) return "absent";
  std::string text = std::string{c10::toString(slot.dtype)} + " [";
  for (std::size_t i = 0; i < slot.sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(slot.sizes[i]);
  }
  return text + (slot.carries_gradient ? "] with gradient" : "]");
}

/// Refuses a boundary that is not as it was `agreed`; `advice` says how it could be.
inline void check_boundary(const BundleDescription& agreed, std::span<const at::Tensor> slots,
                           const MessageId& id, const char* advice) {
  if (slots.size() != agreed.size()) {
    throw Error("the " + describe(id) + " has " + std::to_string(slots.size()) +
                " slots, but the first message of this edge had " + std::to_string(agreed.size()) +
                advice);
  }
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (matches(agreed[slot], slots[slot])) continue;
    throw Error("the " + describe(id) + " is " + words_of(description_of(slots[slot])) +
                " in slot " + std::to_string(slot) + ", but the first message of this edge had " +
                words_of(agreed[slot]) + advice);
  }
}

/// As numbers: for each slot its two flags, its dtype, the number of its dimensions, and these.
inline std::vector<std::int64_t> encoded(const BundleDescription& description) {
  std::vector<std::int64_t> words;
  for (const auto& slot : description) {
    words.push_back((slot.present ? 1 : 0) + (slot.carries_gradient ? 2 : 0));
    words.push_back(static_cast<std::int64_t>(slot.dtype));
    words.push_back(static_cast<std::int64_t>(slot.sizes.size()));
    words.insert(words.end(), slot.sizes.begin(), slot.sizes.end());
  }
  return words;
}

inline BundleDescription decoded(std::span<const std::int64_t> words) {
  BundleDescription description;
  while (!words.empty()) {
    if (words.size() < 3 || words[2] < 0 || words.size() < 3 + static_cast<std::size_t>(words[2])) {
      throw Error("the description of a boundary that came from another rank is damaged");
    }
    const auto dimensions = static_cast<std::size_t>(words[2]);
    const auto sizes = words.subspan(3, dimensions);
    description.push_back({(words[0] & 1) != 0,
                           (words[0] & 2) != 0,
                           static_cast<at::ScalarType>(words[1]),
                           {sizes.begin(), sizes.end()}});
    words = words.subspan(3 + dimensions);
  }
  return description;
}

}  // namespace heddle::detail
