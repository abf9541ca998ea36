#pragma once
// What tests of the torch-free part parse anyway. No header of this project may stand here (app/desktop/pch.h says why).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <QtTest/QtTest>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>
