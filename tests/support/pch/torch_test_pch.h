#pragma once
// What tests on libtorch parse anyway.
#include "pch/torch_pch.h"
// Behind libtorch's: it has members called slots.
#include <QtTest/QtTest>
