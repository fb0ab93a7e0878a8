#pragma once

#include <concepts>

namespace heddle {

/// What crosses from one stage to the next: any number of tensors, some perhaps absent.
///
/// The executor only moves bundles; what is inside is a matter between stages and communicator.
///
/// **Semantics.** A default bundle is empty. A moved-from bundle may be assigned and destroyed.
/// Moving does not copy elements.
template <class Type>
concept bundle = std::movable<Type> && std::default_initializable<Type>;

}  // namespace heddle
