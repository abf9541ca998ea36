#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <c10/core/Event.h>

#include <QProcess>

#include "model/accelerator.h"
#include "model/device.h"
#include "support/pretend_device/pretend.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {
const c10::Device there = pretend::device();
constexpr const char* touching = "FACETER_PRETEND_TOUCH";
}  // namespace

/// The pretend accelerator itself.
class TestPretendDevice : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    /// Run again by the test below.
    void touches_a_tensor() {
        if (!qEnvironmentVariableIsSet(touching)) QSKIP("is run by a_touch_by_the_host_is_named");
        const at::Tensor x = at::zeros({5}, there);
        x.data_ptr<float>()[2] = 1;
    }
    void a_touch_by_the_host_is_named() {
        QProcess process;
        auto variables = QProcessEnvironment::systemEnvironment();
        variables.insert(touching, "1");
        process.setProcessEnvironment(variables);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start(QCoreApplication::applicationFilePath(), {"test_pretend_device", "touches_a_tensor"});
        QVERIFY(process.waitForFinished(hang_ms));
        const QByteArray output = process.readAll();
        QCOMPARE(process.exitStatus(), QProcess::CrashExit);
        QVERIFY2(output.contains("the host touches the device's memory: byte 8 of a tensor of 20 bytes"), output);
        QVERIFY2(output.contains("test_pretend"), output);
    }

    void operators_compute_what_the_processor_does() {
        at::manual_seed(1);
        const at::Tensor a = at::randn({7, 5}), b = at::randn({5, 3}), rows = at::tensor({3, 0, 6, 3}, at::kLong);
        const auto each = [&](const c10::Device& device) {
            const at::Tensor x = a.to(device), y = b.to(device), i = rows.to(device);
            return std::vector<at::Tensor>{
                at::mm(x, y),
                x.t().contiguous().view({-1}).slice(0, 2, 30, 3),
                at::cat({x, x.flip(0)}, 1),
                x.index_select(0, i),
                std::get<1>(x.sort(true, 1, true)),
                at::arange(4, x.options()) + 1.5,
                x.masked_fill(x > 0, -1.0),
                at::layer_norm(x, {5}),
                x.sum(1, true).exp().to(at::kDouble),
                at::zeros({9}, x.options().dtype(at::kInt)).scatter_add_(0, i, at::ones({4}, x.options().dtype(at::kInt)))};
        };
        const auto here = each(at::kCPU), far = each(there);
        for (std::size_t n = 0; n < here.size(); ++n) {
            QVERIFY(far[n].device() == there && far[n].strides() == here[n].strides());
            QVERIFY2(at::equal(far[n].cpu(), here[n]), std::to_string(n).c_str());
        }
    }

    void waits_are_counted_where_they_are_called() {
        const at::Tensor x = at::arange(5, at::kFloat), y = to_device(x, there);
        pretend::reset_counts();
        const at::Tensor sum = (to_device(x, there) * y).sum();
        QCOMPARE(pretend::counts().waits, std::int64_t{0});
        QCOMPARE(read_scalars({sum}), std::vector<double>{30});
        QCOMPARE(pretend::counts().waits, std::int64_t{1});
        const std::string where = pretend::waits_by_place().begin()->first;
        QVERIFY2(where.find("OnTheWay") != std::string::npos, where.c_str());
        y.nonzero();
        x.to(there);
        QCOMPARE(pretend::counts().waits, std::int64_t{3});
        y.index({y > 2});  // which asks how many there are
        QCOMPARE(pretend::counts().waits, std::int64_t{4});
        y.index({at::zeros({2}, y.options().dtype(at::kLong))});
        QCOMPARE(pretend::counts().waits, std::int64_t{4});
        y.clone().index_put_({y > 2}, at::zeros({}, there));
        QCOMPARE(pretend::counts().waits, std::int64_t{5});
    }

    /// The CPU's step takes them.
    void a_fused_step_refuses_what_cuda_cannot_take() {
        const auto step = [](const at::Tensor& gradient, const at::Tensor& steps, const at::Tensor& found) {
            const at::Tensor value = at::ones({3, 2}, gradient.device());
            at::_fused_adamw_({value}, {gradient}, {at::zeros_like(value)}, {at::zeros_like(value)}, {}, {steps}, 0.1, 0.9, 0.999, 0.01,
                              1e-8, false, false, std::optional<at::Tensor>(), std::optional<at::Tensor>(found));
            return value.cpu();
        };
        const auto one = [](const c10::Device& device) { return at::ones({}, at::TensorOptions(at::kFloat).device(device)); };
        const at::Tensor gradient = at::arange(6, at::kFloat).view({3, 2}), far = to_device(gradient, there), none = at::zeros({}, there);
        QVERIFY(max_difference(step(far, one(there), none), step(gradient, one(at::kCPU), at::zeros({}))) < 1e-6);
        EXPECT_ERROR(step(to_device(at::ones({2, 3}), there).t(), one(there), none), "same dtype, device, and layout");
        EXPECT_ERROR(step(far.to(at::kBFloat16), one(there), none), "same dtype, device, and layout");
        EXPECT_ERROR(step(far, one(at::kCPU), none), "must be on the device");
        EXPECT_ERROR(step(far, one(there), at::zeros({})), "must be on the device");
    }

    void a_copy_to_pinned_memory_comes_when_it_is_waited_for() {
        const at::Tensor x = to_device(at::arange(5, at::kFloat), there), host = at::full({5}, 7.0).pin_memory();
        host.copy_(x, /*non_blocking=*/true);
        x.fill_(3);
        QVERIFY(at::equal(host, at::full({5}, 7.0)));  // read too early
        c10::Event event(there.type());
        event.record(at::accelerator::getCurrentStream(there.index()));
        const at::Tensor later = at::zeros({5}).pin_memory();
        later.copy_(x, /*non_blocking=*/true);
        QVERIFY(!event.query());
        event.synchronize();
        QVERIFY(event.query());
        QVERIFY(at::equal(host, at::arange(5, at::kFloat)));  // as it was when the device came to it
        QVERIFY(at::equal(later, at::zeros({5})));            // which is behind the event
        QCOMPARE(x.sum().item<float>(), 15.0F);
        QVERIFY(at::equal(later, at::full({5}, 3.0)));
    }

    void pinned_memory_stays_as_it_is_until_it_was_copied() {
        const at::Tensor host = at::arange(5, at::kFloat).pin_memory(), x = host.to(there, /*non_blocking=*/true);
        host.fill_(1);
        EXPECT_ERROR(x.sum().item<float>(), "written to pinned memory", "20 bytes");
        const at::Tensor again = host.to(there, /*non_blocking=*/true);
        QCOMPARE(again.sum().item<float>(), 5.0F);
        host.fill_(2);
    }

    void numbers_are_on_their_way_until_they_are_asked_for() {
        const at::Tensor x = to_device(at::arange(3, at::kFloat), there);
        pretend::reset_counts();
        const NumbersOnTheWay numbers({x.sum(), at::Tensor(), x, at::scalar_tensor(2.5)});
        x.fill_(9);
        QCOMPARE(pretend::counts().waits, std::int64_t{0});
        QCOMPARE(numbers.values(), (std::vector<double>{3, 0, 0, 1, 2, 2.5}));
        QCOMPARE(pretend::counts().waits, std::int64_t{1});
    }

    void operands_of_two_devices_are_refused() {
        const at::Tensor x = at::ones({3}, there);
        EXPECT_ERROR(x + at::ones({3}), "same device");
        EXPECT_ERROR(x + at::ones({3}, pretend::device(1)), "same device");
        QVERIFY(at::equal((x + at::scalar_tensor(2.0)).cpu(), at::full({3}, 3.0)));
    }

    void memory_is_counted_bounded_and_new_memory_is_no_number() {
        pretend::reset_counts();
        const auto before = device_memory(there);
        {
            const at::Tensor x = at::empty({1000}, there);
            QVERIFY(x.isnan().all().item<bool>());
            QVERIFY(device_memory(there).held - before.held == 4096);  // 4,000 bytes in blocks of 512
        }
        QCOMPARE(device_memory(there).held, before.held);
        QVERIFY(device_memory(there).most >= before.held + 4096);
        pretend::limit_memory(before.held + 1024);
        EXPECT_ERROR(at::empty({1000}, there), "out of memory");
        pretend::limit_memory(std::uint64_t{4} << 30);
        pretend::fail_allocation(2);
        const at::Tensor first = at::empty({10}, there);
        EXPECT_ERROR(at::empty({10}, there), "out of memory");
        QCOMPARE(at::empty({10}, there).numel(), std::int64_t{10});
    }

    void random_numbers_come_from_the_devices_own_seed() {
        at::manual_seed(3);
        const at::Tensor host = at::rand({4});
        seed_device(there, 7);
        const at::Tensor x = at::rand({4}, there), kept = at::dropout(at::ones({64}, there), 0.5, true);
        at::manual_seed(3);
        QVERIFY(at::equal(at::rand({4}), host));
        seed_device(there, 7);
        QVERIFY(at::equal(at::rand({4}, there).cpu(), x.cpu()));
        QVERIFY(at::equal(at::dropout(at::ones({64}, there), 0.5, true).cpu(), kept.cpu()));
        QVERIFY(kept.min().item<float>() == 0 && kept.max().item<float>() == 2);
    }

    /// The checks of FlashAttention, and what it takes on trust.
    void attention_over_sequences_refuses_what_cuda_cannot_take() {
        const auto bf16 = at::TensorOptions(there).dtype(at::kBFloat16);
        const at::Tensor x = at::zeros({10, 2, 8}, bf16), ends = to_device(at::tensor({0, 4, 10}, at::kInt), there);
        const std::optional<at::Tensor> none;
        const std::optional<std::int64_t> whole;
        const auto attend = [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& offsets, std::int64_t longest) {
            return std::get<0>(at::_flash_attention_forward(q, k, k, offsets, offsets, longest, longest, 0.0, false, false, 1.0, whole,
                                                            whole, none, none));
        };
        QCOMPARE(attend(x, x, ends, 6).size(0), std::int64_t{10});
        const at::Tensor wide = at::zeros({10, 2, 12}, bf16), turned = at::zeros({8, 2, 10}, bf16).transpose(0, 2);
        EXPECT_ERROR(attend(x.to(at::kFloat), x.to(at::kFloat), ends, 6), "only support fp16 and bf16");
        EXPECT_ERROR(attend(x, x.to(at::kHalf), ends, 6), "same dtype");
        EXPECT_ERROR(attend(wide, wide, ends, 6), "multiple of 8");
        EXPECT_ERROR(attend(turned, turned, ends, 6), "contiguous last dimension");
        EXPECT_ERROR(attend(x, at::zeros({10, 3, 8}, bf16), ends, 6), "must divide number of heads");
        EXPECT_ERROR(attend(x, x, ends.to(at::kLong), 6), "int32");
        EXPECT_ERROR(attend(x, x, to_device(at::tensor({0, 0, 4, 0, 10, 0}, at::kInt), there).slice(0, 0, 6, 2), 6), "contiguous");
        EXPECT_ERROR(attend(x, x, ends, 5), "from 4 to 10", "max_seqlen is 5");
        EXPECT_ERROR(attend(x, x, to_device(at::tensor({0, 4, 9}, at::kInt), there), 6), "number of tokens, 10");
        EXPECT_ERROR(attend(x, x, at::tensor({0, 4, 10}, at::kInt), 6), "cu_seqlens must be on the device");
    }

    void cuda_is_what_another_device_stands_in_for() {
        QVERIFY(choose_device("auto") == there && choose_device("cuda", {.rank = 1, .size = 2}) == pretend::device(1));
        QVERIFY(choose_device("cpu").is_cpu());
        EXPECT_ERROR(choose_device("cuda", {.size = 3}), "3 processes would share the 2 GPUs of this machine", "--devices 2");
        choose_device("cuda");
    }
};

FACETER_TEST(TestPretendDevice)
#include "test_pretend_device.moc"
