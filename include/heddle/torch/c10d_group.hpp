#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace heddle::detail {

using C10dWork = c10::intrusive_ptr<c10d::Work>;

/// The little that is asked of a process group, whatever its class.
class C10dGroup {
 public:
  virtual ~C10dGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual C10dWork send(const at::Tensor& tensor, int peer, int tag) = 0;
  virtual C10dWork receive(const at::Tensor& tensor, int peer, int tag) = 0;
};

/// LibTorch's backends derive from `c10d::ProcessGroup` up to 1.13 and from `c10d::Backend` since;
/// a template takes either, without the include of both.
template <class Group>
class C10dGroupOf final : public C10dGroup {
 public:
  explicit C10dGroupOf(c10::intrusive_ptr<Group> group) : group_{std::move(group)} {}

  int rank() const override { return group_->getRank(); }
  int size() const override { return group_->getSize(); }

  C10dWork send(const at::Tensor& tensor, int peer, int tag) override {
    std::vector<at::Tensor> tensors{tensor};
    return group_->send(tensors, peer, tag);
  }

  C10dWork receive(const at::Tensor& tensor, int peer, int tag) override {
    std::vector<at::Tensor> tensors{tensor};
    return group_->recv(tensors, peer, tag);
  }

 private:
  c10::intrusive_ptr<Group> group_;
};

}  // namespace heddle::detail
