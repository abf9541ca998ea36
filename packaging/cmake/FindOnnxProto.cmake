# ONNX::proto: the protobuf definitions of ONNX as the distribution has them (libonnx-dev), without ONNX's own library of operators.
find_path(OnnxProto_INCLUDE_DIR onnx/onnx_pb.h)
find_library(OnnxProto_LIBRARY onnx_proto)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxProto REQUIRED_VARS OnnxProto_LIBRARY OnnxProto_INCLUDE_DIR)
if(OnnxProto_FOUND AND NOT TARGET ONNX::proto)
  add_library(ONNX::proto UNKNOWN IMPORTED)
  set_target_properties(ONNX::proto PROPERTIES IMPORTED_LOCATION ${OnnxProto_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${OnnxProto_INCLUDE_DIR})
endif()
