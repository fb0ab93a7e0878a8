#include <heddle/exec/batch.hpp>
#include <heddle/exec/executor.hpp>
#include <heddle/exec/in_process.hpp>
#include <heddle/exec/observer.hpp>
#include <heddle/exec/stage.hpp>

#include "archetypes.hpp"

using namespace heddle;
using namespace heddle_test;
using archetype::Bundle;

// Each archetype models its concept, and nothing more.
struct AnyLoss {};
static_assert(bundle<Bundle>);
static_assert(!splittable_bundle<Bundle>);
static_assert(!has_size<Bundle>);
static_assert(stage_for<archetype::Stage, Bundle>);
static_assert(!has_forward_loss<archetype::Stage, Bundle, AnyLoss>);
static_assert(has_forward_loss<archetype::LossStage, Bundle, AnyLoss>);
static_assert(!has_split_backward<archetype::Stage, Bundle>);
static_assert(!has_reserve<archetype::Stage> && !has_finish<archetype::Stage>);
static_assert(!has_flag<archetype::Stage> && !has_abandon<archetype::Stage>);
static_assert(!has_load<archetype::Stage, Bundle>);
static_assert(communicator<archetype::Communicator>);
static_assert(observer<archetype::Observer>);
static_assert(communicator<InProcessCommunicator<Bundle>>);
static_assert(observer<NoObserver> && observer<TimelineObserver>);

// A bundle moves and has an empty state.
struct ImmovableBundle {
  ImmovableBundle(ImmovableBundle&&) = delete;
};
struct BundleWithoutEmptyState {
  explicit BundleWithoutEmptyState(int size);
};
static_assert(!bundle<ImmovableBundle> && !bundle<BundleWithoutEmptyState>);

// A stage without one of its two calls is none.
struct StageWithoutForward : archetype::Stage {
  void forward() = delete;
};
struct StageWithoutBackward : archetype::Stage {
  void backward() = delete;
};
struct ImmovableStage : archetype::Stage {
  ImmovableStage(ImmovableStage&&) = delete;
};
static_assert(!has_forward<StageWithoutForward, Bundle>);
static_assert(!has_backward<StageWithoutBackward, Bundle>);
static_assert(!stage_for<StageWithoutForward, Bundle>);
static_assert(!stage_for<StageWithoutBackward, Bundle>);
static_assert(!stage_for<ImmovableStage, Bundle>);

// A communicator without one of its calls is none.
struct WithoutRank : archetype::Communicator {
  void rank() const = delete;
};
struct WithoutSize : archetype::Communicator {
  void size() const = delete;
};
struct WithoutSend : archetype::Communicator {
  void send() = delete;
};
struct WithoutReceive : archetype::Communicator {
  void receive() = delete;
};
struct WithoutSum : archetype::Communicator {
  void all_reduce_sum() = delete;
};
struct WithoutAbort : archetype::Communicator {
  void abort() = delete;
};
static_assert(!has_rank<WithoutRank> && !communicator<WithoutRank>);
static_assert(!has_rank<WithoutSize> && !communicator<WithoutSize>);
static_assert(!has_send<WithoutSend> && !communicator<WithoutSend>);
static_assert(!has_receive<WithoutReceive> && !communicator<WithoutReceive>);
static_assert(!has_all_reduce_sum<WithoutSum> && !communicator<WithoutSum>);
static_assert(!has_abort<WithoutAbort> && !communicator<WithoutAbort>);

// A request without one of its calls is none.
struct RequestWithoutTest : archetype::ReceiveRequest {
  void test() = delete;
};
struct RequestWithoutWait : archetype::SendRequest {
  void wait() = delete;
};
static_assert(send_request<archetype::SendRequest>);
static_assert(!send_request<RequestWithoutWait>);
static_assert(receive_request<archetype::ReceiveRequest, Bundle>);
static_assert(!receive_request<RequestWithoutTest, Bundle>);
static_assert(!receive_request<archetype::SendRequest, Bundle>);

// Each refinement is one call.
struct RefinedStage : archetype::LossStage {
  Bundle backward_input(MicroBatch micro_batch, Bundle output_gradients);
  void backward_weight(MicroBatch micro_batch);
  void reserve(int slots);
  void load(MicroBatch micro_batch, const Bundle& data);
  void finish();
  bool flag();
  void abandon();
};
static_assert(has_split_backward<RefinedStage, Bundle> && has_reserve<RefinedStage>);
static_assert(has_load<RefinedStage, Bundle> && has_finish<RefinedStage>);
static_assert(has_flag<RefinedStage> && has_abandon<RefinedStage>);
struct HalfSplitStage : RefinedStage {
  void backward_weight() = delete;
};
static_assert(!has_split_backward<HalfSplitStage, Bundle>);

// A bare tensor is no input of a batch.
static_assert(!std::convertible_to<double, BatchInput<double>>);
static_assert(std::same_as<decltype(split(1.0)), BatchInput<double>>);
