// Writes a plugin's manifest: what it offers, with the schema of its settings, and the build it belongs to. Linked with the plugin's
// settings.cpp by faceter_plugin() and run once after it was compiled, so that `faceter` can describe a plugin without opening it.
#include <cstdio>
#include <exception>

#include "experiment/manifest.h"
#include "plugin/abi.h"

namespace faceter {
/// Defined by the plugin's settings.cpp.
Manifest plugin_manifest();
}  // namespace faceter

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s ID MANIFEST.json\n", argv[0]);
        return 2;
    }
    try {
        faceter::Manifest manifest = faceter::plugin_manifest();
        if (manifest.id != argv[1]) {
            std::fprintf(stderr, "settings.cpp names the plugin '%s', faceter_plugin() names it '%s'; make them equal\n",
                         manifest.id.c_str(), argv[1]);
            return 3;
        }
        manifest.abi = faceter::plugin_abi;
        manifest.fingerprint = faceter::build_fingerprint();
        return faceter::write_manifest(manifest, argv[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 5;
    }
}
