#pragma once
// What tests of the desktop parse anyway. No header of this project may stand here (app/desktop/pch.h says why).
#include <QtTest/QtTest>
#include <QtWidgets/QtWidgets>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
