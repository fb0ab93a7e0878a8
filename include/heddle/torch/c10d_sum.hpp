#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <heddle/exec/communicator.hpp>
#include <heddle/torch/c10d_link.hpp>

namespace heddle::detail {

/// The `number`-th sum of a few numbers over all ranks, by sends and receives alone: unlike a
/// collective of c10d these can be interrupted, and the order of the additions is fixed.
inline void all_reduce_sum(C10dLink& link, std::span<double> numbers, int number,
                           Deadline deadline) {
  const auto words = [] { return std::string{"sum over all ranks"}; };
  const int tag = tag_of_sum(number);
  const auto length = static_cast<std::int64_t>(numbers.size());
  const auto give = [&](int peer) {
    const at::Tensor message = at::empty({length}, at::kDouble);
    std::copy(numbers.begin(), numbers.end(), message.data_ptr<double>());
    return link.send(message, peer, tag, words);
  };
  struct Coming {
    at::Tensor numbers;
    C10dWork work;
    int peer;
  };
  const auto ask = [&](int peer) {
    const at::Tensor message = at::empty({length}, at::kDouble);
    return Coming{message, link.receive(message, peer, tag, words), peer};
  };
  const auto take = [&](const Coming& coming) {
    link.await(coming.work, deadline, coming.peer, words);
    const auto* begin = coming.numbers.data_ptr<double>();
    return std::span<const double>{begin, begin + length};
  };

  if (link.rank() != 0) {
    const Coming total = ask(0);
    link.await(give(0), deadline, 0, words);
    const auto sum = take(total);
    std::copy(sum.begin(), sum.end(), numbers.begin());
    return;
  }
  std::vector<Coming> parts;
  for (int peer = 1; peer < link.size(); ++peer) parts.push_back(ask(peer));
  for (const auto& part : parts) {
    const auto addend = take(part);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += addend[i];
  }
  std::vector<C10dWork> answers;
  for (int peer = 1; peer < link.size(); ++peer) answers.push_back(give(peer));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    link.await(answers[i], deadline, static_cast<int>(i) + 1, words);
  }
}

}  // namespace heddle::detail
