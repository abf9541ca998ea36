#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "checkpoint/model_description.h"
#include "checkpoint/weights.h"
#include "model/embedding_model.h"

namespace faceter {

/// What only some tasks pass: task expert `expert` of every mixture block (Path::none: the dense blocks beside them), or one of several
/// encoders.
struct ModelPart {
    int encoder = 0, expert = Path::none;
    bool operator==(const ModelPart&) const = default;
};

/// A model of which only some parts are in memory; the others stay in its folder until texts of their tasks come (the experts that a task
/// does not need can be offloaded: MoTE, section 3.1). Vectors are those of the whole model, bit for bit. One thread embeds and fetches;
/// counts() may be asked by any.
class ResidentParts {
  public:
    /// Why no part of such a model can wait in its folder; empty where parts can.
    static std::string why_not(const ModelDescription& description);

    /// `model`: opened from `files` for the route `opened` alone, on the CPU with its products laid out in float32 and released. It becomes
    /// the whole model, of which that route's part is there. `at_most`: parts in memory at a time, at least 1.
    ResidentParts(EmbeddingModel& model, const ModelFolder& files, const ServedRoute& opened, std::size_t at_most);

    bool has(const Route& route) const;
    /// Reads the part that texts of this route pass, where it is not there, in the place of the one that was not used for longest. Errors
    /// (data): it cannot be read; what is there stays usable.
    void fetch(const Route& route);

    struct Counts {
        std::vector<ModelPart> resident;  ///< the one used last at the end
        std::uint64_t reads = 0, given_up = 0;
        double reading_s = 0;
    };
    Counts counts() const;
    std::size_t at_most() const { return at_most_; }
    static ModelPart part_of(const Route& route) { return {route.encoder, route.path.expert}; }

  private:
    void take_shape(const ModelDescription& description, const ModelPart& opened);
    void read(const ModelPart& part);
    void read_encoder(int index);
    void read_expert(int index);
    void put_away(const ModelPart& part);
    void make_room();

    EmbeddingModel& model_;
    Weights weights_;
    std::size_t at_most_;
    bool encoders_ = false;  ///< the parts are encoders
    mutable std::mutex mutex_;
    Counts counts_;
};

}  // namespace faceter
