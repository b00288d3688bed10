// SPDX-License-Identifier: Apache-2.0

/// The files of a set. Their messages and fields have the options of Options.proto.
///
/// The set must include Options.proto (`--include_imports`), because it has the numbers of the options.
func fileDescriptors(in bytes: [UInt8]) throws -> [ProtoFile] {
    var files = try unnamedFileDescriptors(in: bytes)
    let names = OptionNames(files.filter { !$0.package.hasPrefix("google.") }.flatMap(\.options))
    for file in files.indices {
        for message in files[file].messages.indices { try names.apply(to: &files[file].messages[message]) }
    }
    return files
}

/// The names of the options in Options.proto.
private struct OptionNames {
    private var names: [String: [UInt32: String]] = [:]

    init(_ options: [OptionDescriptor]) {
        for option in options { names[option.extended, default: [:]][option.number] = option.name }
    }

    func apply(to message: inout MessageDescriptor) throws(WireSchema.Failure) {
        for (name, value) in named(message.options, of: ".google.protobuf.MessageOptions") {
            switch name {
            case "most_depth": message.depthMax = Int(value)
            case "most_in_all": message.countInAllMax = Int(value)
            case "most_elements_in_all": message.elementsInAllMax = Int(value)
            case "keeps_unknown_fields": message.keepsUnknownFields = value != 0
            case "streamed": message.isStreamed = value != 0
            case "lists_kinds": message.listsKinds = value != 0
            default: throw unknown(name, in: message)
            }
        }
        for index in message.fields.indices {
            for (name, value) in named(message.fields[index].options, of: ".google.protobuf.FieldOptions") {
                switch name {
                case "most_elements": message.fields[index].elementsMax = Int(value)
                case "most_bytes": message.fields[index].bytesMax = Int(value)
                case "slice": message.fields[index].isSlice = value != 0
                default: throw unknown(name, in: message)
                }
            }
        }
    }

    /// The options that Options.proto declares. Others belong to protobuf.
    private func named(
        _ options: [UInt32: UInt64], of extended: String
    ) -> [(name: String, value: UInt64)] {
        options.compactMap { number, value in names[extended]?[number].map { ($0, value) } }
    }

    private func unknown(_ name: String, in message: MessageDescriptor) -> WireSchema.Failure {
        WireSchema.Failure(description: "\(message.name): the generator does not know the option \(name)")
    }
}
