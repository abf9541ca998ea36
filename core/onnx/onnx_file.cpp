#include "onnx/onnx_file.h"

#include <fmt/format.h>

#define ONNX_NAMESPACE onnx
#define ONNX_ML 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <fstream>
#include <utility>

#include "common/atomic_file.h"
#include "common/error.h"
#include "common/file.h"
#include "onnx/graph_builder.h"

namespace faceter {
namespace {

namespace proto = ::onnx;
namespace fs = std::filesystem;

constexpr std::int64_t ir_version = 8, opset = 17;
constexpr std::size_t smallest_beside = 1024;  ///< smaller weights stay in the file itself

constexpr std::array<std::pair<OnnxType, proto::TensorProto_DataType>, 6> types = {{{OnnxType::float32, proto::TensorProto_DataType_FLOAT},
                                                                                    {OnnxType::int64, proto::TensorProto_DataType_INT64},
                                                                                    {OnnxType::int32, proto::TensorProto_DataType_INT32},
                                                                                    {OnnxType::int8, proto::TensorProto_DataType_INT8},
                                                                                    {OnnxType::uint8, proto::TensorProto_DataType_UINT8},
                                                                                    {OnnxType::boolean, proto::TensorProto_DataType_BOOL}}};

OnnxType type_of(int number, const fs::path& file) {
    for (const auto& [type, own] : types)
        if (own == number) return type;
    throw data_error("{}: has tensors of ONNX's type {}, which Faceter does not write", file.string(), number);
}

void put_attribute(proto::NodeProto& node, const std::string& name, const OnnxAttribute& value) {
    proto::AttributeProto& to = *node.add_attribute();
    to.set_name(name);
    if (const auto* one = std::get_if<std::int64_t>(&value)) {
        to.set_type(proto::AttributeProto_AttributeType_INT);
        to.set_i(*one);
    } else if (const auto* real = std::get_if<float>(&value)) {
        to.set_type(proto::AttributeProto_AttributeType_FLOAT);
        to.set_f(*real);
    } else {
        to.set_type(proto::AttributeProto_AttributeType_INTS);
        for (const std::int64_t each : std::get<std::vector<std::int64_t>>(value)) to.add_ints(each);
    }
}

OnnxAttribute attribute_of(const proto::AttributeProto& from, const fs::path& file) {
    switch (from.type()) {
        case proto::AttributeProto_AttributeType_INT:
            return from.i();
        case proto::AttributeProto_AttributeType_FLOAT:
            return from.f();
        case proto::AttributeProto_AttributeType_INTS:
            return std::vector<std::int64_t>(from.ints().begin(), from.ints().end());
        default:
            throw data_error("{}: attribute '{}' is of a kind that Faceter does not write", file.string(), from.name());
    }
}

void put_port(proto::ValueInfoProto& to, const OnnxPort& port) {
    to.set_name(port.name);
    proto::TypeProto_Tensor& tensor = *to.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<int>(onnx_number(port.type)));
    for (const std::string& axis : port.axes) {
        proto::TensorShapeProto_Dimension& size = *tensor.mutable_shape()->add_dim();
        std::int64_t number = 0;
        const auto read = std::from_chars(axis.data(), axis.data() + axis.size(), number);
        read.ptr == axis.data() + axis.size() ? size.set_dim_value(number) : size.set_dim_param(axis);
    }
}

OnnxPort port_of(const proto::ValueInfoProto& from, const fs::path& file) {
    OnnxPort port{from.name(), type_of(from.type().tensor_type().elem_type(), file), {}};
    for (const auto& size : from.type().tensor_type().shape().dim())
        port.axes.push_back(size.has_dim_param() ? size.dim_param() : std::to_string(size.dim_value()));
    return port;
}

/// Weights that lie beside the file, one behind another.
class DataFile {
  public:
    explicit DataFile(const fs::path& file) : out_(file, OutputFile::Mode::truncate) {}
    void put(proto::TensorProto& to, const std::string& bytes) {
        to.set_data_location(proto::TensorProto_DataLocation_EXTERNAL);
        const auto say = [&](const char* key, const std::string& value) {
            auto& entry = *to.add_external_data();
            entry.set_key(key);
            entry.set_value(value);
        };
        say("location", out_.path().filename().string());
        say("offset", std::to_string(offset_));
        say("length", std::to_string(bytes.size()));
        out_.write(bytes);
        offset_ += bytes.size();
    }
    void close() {
        out_.sync();
        out_.close();
    }

  private:
    OutputFile out_;
    std::uint64_t offset_ = 0;
};

/// For protobuf, which no error may go through: it waits until all is over.
class FileStream : public google::protobuf::io::CopyingOutputStream {
  public:
    explicit FileStream(OutputFile& out) : out_(out) {}
    bool Write(const void* bytes, int size) override {
        try {
            out_.write({static_cast<const char*>(bytes), static_cast<std::size_t>(size)});
            return true;
        } catch (const Error&) {
            problem_ = std::current_exception();
            return false;
        }
    }
    void check() const {
        if (problem_) std::rethrow_exception(problem_);
    }

  private:
    OutputFile& out_;
    std::exception_ptr problem_;
};

void write_message(const fs::path& file, const proto::ModelProto& model) {
    OutputFile out(file, OutputFile::Mode::truncate);
    FileStream stream(out);
    google::protobuf::io::CopyingOutputStreamAdaptor buffered(&stream, 1 << 20);
    const bool written = model.SerializeToZeroCopyStream(&buffered) && buffered.Flush();
    stream.check();
    if (!written) throw failure("{}: cannot be written as an ONNX file", file.string());
    out.sync();
    out.close();
}

/// Where a weight that lies beside the file stands, and how long it is.
std::string read_beside(const proto::TensorProto& from, const fs::path& file) {
    std::map<std::string, std::string> said;
    for (const auto& entry : from.external_data()) said[entry.key()] = entry.value();
    const fs::path expected = file.filename().string() + "_data";
    const auto number = [&](const char* key) {
        std::uint64_t value = 0;
        const std::string& text = said[key];
        if (std::from_chars(text.data(), text.data() + text.size(), value).ptr != text.data() + text.size() || text.empty())
            throw data_error("{}: weight '{}' has no {} in the file beside it", file.string(), from.name(), key);
        return value;
    };
    if (said["location"] != expected) throw data_error("{}: its weights lie outside of {}", file.string(), expected.string());
    std::ifstream in(file.parent_path() / expected, std::ios::binary);
    const std::uint64_t size = fs::file_size(file.parent_path() / expected), offset = number("offset"), length = number("length");
    if (offset > size || length > size - offset)
        throw data_error("{}: weight '{}' ends behind the end of {}", file.string(), from.name(), expected.string());
    std::string bytes(length, '\0');
    in.seekg(static_cast<std::streamoff>(offset));
    in.read(bytes.data(), static_cast<std::streamsize>(length));
    if (!in) throw data_error("{}: {} cannot be read", file.string(), expected.string());
    return bytes;
}

OnnxTensor tensor_of(const proto::TensorProto& from, const fs::path& file) {
    OnnxTensor tensor{from.name(), type_of(from.data_type(), file), {from.dims().begin(), from.dims().end()}, {}};
    tensor.bytes = from.data_location() == proto::TensorProto_DataLocation_EXTERNAL ? read_beside(from, file) : from.raw_data();
    std::uint64_t expected = onnx_bytes(tensor.type);
    for (const std::int64_t size : tensor.shape) expected *= static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0));
    if (tensor.bytes.size() != expected)
        throw data_error("{}: weight '{}' has {} bytes, its shape makes {}", file.string(), tensor.name, tensor.bytes.size(), expected);
    return tensor;
}

void put_nodes(proto::GraphProto& to, const OnnxGraph& graph) {
    for (const OnnxNode& node : graph.nodes) {
        proto::NodeProto& own = *to.add_node();
        own.set_op_type(node.op);
        own.set_name(node.outputs.front());
        for (const std::string& input : node.inputs) own.add_input(input);
        for (const std::string& output : node.outputs) own.add_output(output);
        for (const auto& [name, value] : node.attributes) put_attribute(own, name, value);
    }
}

}  // namespace

std::int64_t onnx_number(OnnxType type) {
    return std::find_if(types.begin(), types.end(), [&](const auto& one) { return one.first == type; })->second;
}

void write_onnx(const fs::path& file, const OnnxGraph& graph, std::uint64_t largest_file) {
    std::uint64_t total = 0;
    for (const OnnxTensor& weight : graph.weights) total += weight.bytes.size();
    proto::ModelProto model;
    model.set_ir_version(ir_version);
    model.set_producer_name("faceter");
    model.set_producer_version(FACETER_VERSION);
    model.add_opset_import()->set_version(opset);
    proto::GraphProto& to = *model.mutable_graph();
    to.set_name(graph.name);
    for (const OnnxPort& port : graph.inputs) put_port(*to.add_input(), port);
    for (const OnnxPort& port : graph.outputs) put_port(*to.add_output(), port);
    put_nodes(to, graph);
    std::optional<DataFile> beside;
    if (total > largest_file) beside.emplace(fs::path(file.string() + "_data"));
    for (const OnnxTensor& weight : graph.weights) {
        proto::TensorProto& own = *to.add_initializer();
        own.set_name(weight.name);
        own.set_data_type(static_cast<int>(onnx_number(weight.type)));
        for (const std::int64_t size : weight.shape) own.add_dims(size);
        beside&& weight.bytes.size() >= smallest_beside ? beside->put(own, weight.bytes) : own.set_raw_data(weight.bytes);
    }
    if (beside) beside->close();
    write_message(file, model);
}

OnnxGraph read_onnx(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    proto::ModelProto model;
    if (!in || !model.ParseFromIstream(&in)) throw data_error("{}: is no ONNX file that can be read", file.string());
    const proto::GraphProto& from = model.graph();
    OnnxGraph graph;
    graph.name = from.name();
    for (const auto& port : from.input()) graph.inputs.push_back(port_of(port, file));
    for (const auto& port : from.output()) graph.outputs.push_back(port_of(port, file));
    for (const auto& tensor : from.initializer()) graph.weights.push_back(tensor_of(tensor, file));
    for (const auto& node : from.node()) {
        OnnxNode own{node.op_type(), {node.input().begin(), node.input().end()}, {node.output().begin(), node.output().end()}, {}};
        for (const auto& attribute : node.attribute()) own.attributes[attribute.name()] = attribute_of(attribute, file);
        graph.nodes.push_back(std::move(own));
    }
    return graph;
}

}  // namespace faceter
