// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// A `.proto` file as `protoc --descriptor_set_out` describes it. It has the parts of google/protobuf/descriptor.proto that are
/// used here.
struct ProtoFile {
    var name = ""
    var package = ""
    var dependencies: [String] = []
    var messages: [MessageDescriptor] = []
    var choices: [ChoiceDescriptor] = []
    /// Options that the file declares.
    var options: [OptionDescriptor] = []
    var typePrefix = ""
    var comments: [CommentPath: String] = [:]
}

/// The path to a declaration in a file: numbers of descriptor fields, and indices.
typealias CommentPath = [Int32]

/// A message.
struct MessageDescriptor {
    var name = ""
    var fields: [FieldDescriptor] = []
    var oneofs: [String] = []
    var depthMax: Int?
    var countInAllMax: Int?
    var elementsInAllMax: Int?
    var keepsUnknownFields = false
    var isStreamed = false
    var listsKinds = false
    var hasNestedTypes = false
    /// By their numbers.
    var options: [UInt32: UInt64] = [:]
    /// Where its comments are.
    var path: CommentPath = []
}

/// A field of a message.
struct FieldDescriptor {
    /// Numbers of descriptor.proto.
    enum Kind: Int32 {
        case double = 1
        case int64 = 3
        case uint64 = 4
        case int32 = 5
        case bool = 8
        case string = 9
        case message = 11
        case bytes = 12
        case uint32 = 13
        case choice = 14
        case sint64 = 18
    }

    var name = ""
    var number: Int32 = 0
    var kind: Kind?
    var isRepeated = false
    /// The name of its message or enumeration: ".tidemark.v1.Record".
    var typeName = ""
    /// The index of its oneof.
    var oneofIndex: Int?
    /// `optional` in the file.
    var isOptional = false
    var elementsMax: Int?
    var bytesMax: Int?
    var isSlice = false
    /// By their numbers.
    var options: [UInt32: UInt64] = [:]
    var path: CommentPath = []
}

/// An option that a file adds to fields or messages.
struct OptionDescriptor {
    var name = ""
    var number: UInt32 = 0
    /// ".google.protobuf.FieldOptions"
    var extended = ""
}

/// An enumeration.
struct ChoiceDescriptor {
    var name = ""
    var values: [(name: String, number: Int32, path: CommentPath)] = []
    var path: CommentPath = []
}
