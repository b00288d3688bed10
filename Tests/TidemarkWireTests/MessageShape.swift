// SPDX-License-Identifier: Apache-2.0

import SwiftProtobuf
import Testing
import TidemarkBytes

/// A field as the `.proto` file declares it.
struct FieldShape: Sendable {
    enum Kind: Sendable, Equatable {
        case double, int64, sint64, uint64, int32, uint32, bool, string, bytes, choice
        case message(String)
    }

    let number: UInt32
    let name: String
    let kind: Kind
    /// Of a repeated field.
    let elementsMax: Int?
    let bytesMax: Int?
    /// The oneof that it belongs to.
    let oneof: Int?
    /// `optional` in the file.
    let isOptional: Bool

    init(
        _ number: UInt32, _ name: String, _ kind: Kind, elementsMax: Int? = nil, bytesMax: Int? = nil,
        oneof: Int? = nil, isOptional: Bool = false
    ) {
        self.number = number
        self.name = name
        self.kind = kind
        self.elementsMax = elementsMax
        self.bytesMax = bytesMax
        self.oneof = oneof
        self.isOptional = isOptional
    }

    /// Whether it may be there with its default.
    var isWrittenWithDefault: Bool { oneof != nil || isOptional }

    var isPacked: Bool {
        switch kind {
        case .string, .bytes, .message: false
        default: elementsMax != nil
        }
    }
}

/// A message as the `.proto` file declares it, with our type for it and that of swift-protobuf, which is the judge.
struct MessageShape: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: [FieldShape]
    let depthMax: Int?
    /// How many messages of this type one message may have at all depths.
    let countInAllMax: Int?
    let keepsUnknownFields: Bool
    let elementsInAllMax: Int
    /// Reads the bytes by our type and gives what that writes.
    let ours: @Sendable ([UInt8]) throws(WireError) -> (encoded: [UInt8], size: Int)
    /// What our type reads, how many bytes it takes in itself, and how many it says that it takes in all.
    let reading: @Sendable ([UInt8]) -> (message: any WireMessage, stride: Int, memory: Int)
    /// The same by swift-protobuf's type; it skips fields that it does not know, or keeps them.
    let theirs: @Sendable ([UInt8], _ keepsUnknown: Bool) throws -> [UInt8]

    init<Ours: WireMessage, Theirs: SwiftProtobuf.Message>(
        _ name: String, _: Ours.Type, _: Theirs.Type, depthMax: Int? = nil, countInAllMax: Int? = nil,
        keepsUnknownFields: Bool = false, _ fields: [FieldShape]
    ) {
        self.name = name
        self.fields = fields
        self.depthMax = depthMax
        self.countInAllMax = countInAllMax
        self.keepsUnknownFields = keepsUnknownFields
        elementsInAllMax = Ours.elementsInAllMax
        ours = { bytes throws(WireError) in
            let message = try Ours(reading: bytes)
            return (message.encoded, message.size)
        }
        reading = { bytes in
            let (message, _, memory) = Ours.read(bytes)
            return (message, MemoryLayout<Ours>.stride, memory)
        }
        theirs = { bytes, keepsUnknown in
            var options = BinaryDecodingOptions()
            options.discardUnknownFields = !keepsUnknown
            return try Theirs(serializedBytes: bytes, options: options).serializedBytes()
        }
    }

    /// A number that no field of any message has.
    static let unknownNumber = (all.flatMap(\.fields).map(\.number).max() ?? 0) + 1

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    var testDescription: String { name }
}
