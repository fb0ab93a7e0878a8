#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <heddle/core/error.hpp>
#include <heddle/torch/bundle.hpp>

// Calls what a user wrote with the tensors of a bundle, and makes a bundle of what it returns.

namespace heddle::detail {

/// The most tensors that are handed over one by one; a callable for more takes a TorchBundle.
inline constexpr std::size_t most_arguments = 8;

template <std::size_t>
using TensorArgument = at::Tensor;

template <class Function, class Indices>
inline constexpr bool takes_each = false;

template <class Function, std::size_t... Index>
inline constexpr bool takes_each<Function, std::index_sequence<Index...>> =
    std::is_invocable_v<Function&, TensorArgument<Index>...>;

/// Whether `Function` takes `count` tensors one by one.
template <class Function, std::size_t count>
inline constexpr bool takes = takes_each<Function, std::make_index_sequence<count>>;

template <class Function>
inline constexpr bool takes_some = []<std::size_t... Count>(std::index_sequence<Count...>) {
  return (takes<Function, Count> || ...);
}(std::make_index_sequence<most_arguments + 1>{});

template <class Callable, class... Arguments>
concept points_to_module = requires(Callable& callable, Arguments... arguments) {
  callable->forward(std::move(arguments)...);
};

template <class Callable, class... Arguments>
concept is_module = requires(Callable& callable, Arguments... arguments) {
  callable.forward(std::move(arguments)...);
};

template <class Callable>
concept has_arrow = requires(Callable& callable) { callable.operator->(); };

/// Not what points to a module: the call operator of a `torch::nn::ModuleHolder` says that it takes
/// any arguments, and does not compile for those that its module does not take.
template <class Callable, class... Arguments>
concept is_function = !has_arrow<Callable> && std::invocable<Callable&, Arguments...>;

/// A stage's callable seen as a function: a module's `forward`, or itself.
template <class Callable>
struct ForwardOf {
  Callable& callable;

  template <class... Arguments>
    requires points_to_module<Callable, Arguments...> || is_module<Callable, Arguments...> ||
             is_function<Callable, Arguments...>
  decltype(auto) operator()(Arguments... arguments) {
    if constexpr (points_to_module<Callable, Arguments...>) {
      return callable->forward(std::move(arguments)...);
    } else if constexpr (is_module<Callable, Arguments...>) {
      return callable.forward(std::move(arguments)...);
    } else {
      return callable(std::move(arguments)...);
    }
  }
};

inline TorchBundle to_bundle(TorchBundle bundle) { return bundle; }

inline TorchBundle to_bundle(std::vector<at::Tensor> tensors) {
  return TorchBundle{std::move(tensors)};
}

inline TorchBundle to_bundle(at::Tensor tensor) {
  TorchBundle bundle;
  bundle.append(std::move(tensor));
  return bundle;
}

template <class... Tensors>
TorchBundle to_bundle(std::tuple<Tensors...> tensors) {
  TorchBundle bundle;
  std::apply([&](auto&... tensor) { (bundle.append(std::move(tensor)), ...); }, tensors);
  return bundle;
}

/// Sets `result` to what `function` makes of `tensors` if it takes `count` and there are so many.
template <std::size_t count, class Result, class Function, class Convert>
bool call_if(Result& result, Function& function, const TorchBundle& tensors, Convert convert) {
  if constexpr (takes<Function, count>) {
    if (tensors.size() != count) return false;
    result = [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return convert(function(at::Tensor(tensors[Index])...));
    }(std::make_index_sequence<count>{});
    return true;
  } else {
    return false;
  }
}

/// Calls `function`, which takes tensors one by one. `what` names it if it takes another number.
template <class Result, class Function, class Convert>
Result call_each(Function& function, const TorchBundle& tensors, const char* what,
                 Convert convert) {
  Result result{};
  const bool called = [&]<std::size_t... Count>(std::index_sequence<Count...>) {
    return (call_if<Count>(result, function, tensors, convert) || ...);
  }(std::make_index_sequence<most_arguments + 1>{});
  if (called) return result;
  throw Error(std::string{what} + " does not take " + std::to_string(tensors.size()) +
              " tensors; let it take that many (at most " + std::to_string(most_arguments) +
              ") or a heddle::TorchBundle");
}

/// What the stage's callable makes of its inputs.
template <class Callable>
TorchBundle call_forward(Callable& callable, const TorchBundle& inputs) {
  ForwardOf<Callable> function{callable};
  using Function = ForwardOf<Callable>;
  if constexpr (takes_some<Function>) {
    return call_each<TorchBundle>(function, inputs, "the stage", [](auto&& outputs) {
      return to_bundle(std::forward<decltype(outputs)>(outputs));
    });
  } else if constexpr (std::is_invocable_v<Function&, TorchBundle>) {
    return to_bundle(function(TorchBundle(inputs)));
  } else {
    static_assert(std::is_invocable_v<Function&, std::vector<at::Tensor>>,
                  "a stage is a module with a forward, or a callable: it takes tensors (at most "
                  "8), a heddle::TorchBundle or a std::vector<at::Tensor>");
    return to_bundle(function(std::vector<at::Tensor>(inputs.begin(), inputs.end())));
  }
}

/// The loss of outputs and targets, for a function of tensors or of two bundles.
template <class Callable>
at::Tensor call_loss(Callable& callable, const TorchBundle& outputs, const TorchBundle& targets) {
  using Function = ForwardOf<Callable>;
  Function function{callable};
  if constexpr (takes_some<Function>) {
    TorchBundle both{outputs};
    for (const auto& target : targets) both.append(target);
    return call_each<at::Tensor>(function, both, "the loss function",
                                 [](at::Tensor loss) { return loss; });
  } else {
    static_assert(
        std::is_invocable_v<Function&, TorchBundle, TorchBundle>,
        "a loss function takes the outputs and the targets: as tensors (at most 8 together) or as "
        "two heddle::TorchBundle");
    return function(TorchBundle(outputs), TorchBundle(targets));
  }
}

}  // namespace heddle::detail
