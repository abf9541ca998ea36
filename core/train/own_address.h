#pragma once
#include <string>

namespace faceter {

/// The address by which this machine speaks to a host, as the system's routes say; no packet is sent. Empty where the host is not known,
/// not reachable, or reached by the loopback alone.
std::string own_address_towards(const std::string& host, int port);

}  // namespace faceter
