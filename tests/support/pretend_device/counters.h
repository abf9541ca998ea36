#pragma once
#include <ATen/core/operator_name.h>

#include "pretend.h"

/// What operators leave for tests to read.
namespace faceter::testing::pretend {

/// The device that this thread works on.
int current_device();
void set_current_device(int index);

/// While one lives, allocations are made by this operator. It counts as one run of it.
class RunningOperator {
  public:
    explicit RunningOperator(const char* name);
    ~RunningOperator();
    RunningOperator(const RunningOperator&) = delete;
    RunningOperator& operator=(const RunningOperator&) = delete;

  private:
    const char* around_;
};
/// "a host call" where none runs.
const char* current_operator();

/// The host waits for the device, for what an operator does.
void count_wait(const char* why);
/// It waits for what comes before a place in the order (late_copies.h).
void count_wait(const char* why, std::uintptr_t place);

Counts operator_counts();
void reset_operator_counts();

}  // namespace faceter::testing::pretend
