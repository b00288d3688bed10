// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// Calls a closure with each field's tag. The closure reads the fields that are needed, and returns false for the others.
/// google/protobuf/descriptor.proto declares the numbers.
private func eachField(
    of reader: inout WireReader, _ read: (UInt32, inout WireReader) throws(WireError) -> Bool
) throws(WireError) {
    while let tag = try reader.nextTag() {
        if try !read(tag, &reader) { try reader.skip(tag, known: 0) }
    }
}

private func tag(_ number: UInt32, _ wireType: UInt32) -> UInt32 { number << 3 | wireType }

/// Lets a closure read a nested message.
private func nested(
    _ reader: inout WireReader, _ read: (inout WireReader) throws(WireError) -> Void
) throws(WireError) {
    let bytes = try reader.content()
    try bytes.withUnsafeBufferPointer { (buffer) throws(WireError) in
        var inner = WireReader(buffer, of: bytes, elementsMax: .max)
        try read(&inner)
    }
}

/// The files of a set. Their options are still numbers. `fileDescriptors(in:)` gives them a meaning.
func unnamedFileDescriptors(in bytes: [UInt8]) throws(WireError) -> [ProtoFile] {
    var files: [ProtoFile] = []
    try bytes.withUnsafeBufferPointer { (buffer) throws(WireError) in
        var reader = WireReader(buffer, of: bytes, elementsMax: .max)
        try eachField(of: &reader) { (field, reader) throws(WireError) in
            guard field == tag(1, 2) else { return false }
            var file = ProtoFile()
            try nested(&reader) { (inner) throws(WireError) in try file.read(&inner) }
            files.append(file)
            return true
        }
    }
    return files
}

extension ProtoFile {
    fileprivate mutating func read(_ reader: inout WireReader) throws(WireError) {
        var file = self
        try eachField(of: &reader) { (field, reader) throws(WireError) in
            switch field {
            case tag(1, 2): file.name = try reader.text()
            case tag(2, 2): file.package = try reader.text()
            case tag(3, 2): file.dependencies.append(try reader.text())
            case tag(4, 2):
                var message = MessageDescriptor(path: [4, Int32(file.messages.count)])
                try nested(&reader) { (inner) throws(WireError) in try message.read(&inner) }
                file.messages.append(message)
            case tag(5, 2):
                var choice = ChoiceDescriptor(path: [5, Int32(file.choices.count)])
                try nested(&reader) { (inner) throws(WireError) in try choice.read(&inner) }
                file.choices.append(choice)
            case tag(7, 2):
                var option = OptionDescriptor()
                try nested(&reader) { (inner) throws(WireError) in try option.read(&inner) }
                file.options.append(option)
            case tag(8, 2): try nested(&reader) { (inner) throws(WireError) in try file.readOptions(&inner) }
            case tag(9, 2): try nested(&reader) { (inner) throws(WireError) in try file.readComments(&inner) }
            default: return false
            }
            return true
        }
        self = file
    }

    private mutating func readOptions(_ reader: inout WireReader) throws(WireError) {
        var prefix = typePrefix
        try eachField(of: &reader) { (field, reader) throws(WireError) in
            guard field == tag(39, 2) else { return false }
            prefix = try reader.text()
            return true
        }
        typePrefix = prefix
    }

    private mutating func readComments(_ reader: inout WireReader) throws(WireError) {
        var comments = comments
        try eachField(of: &reader) { (field, reader) throws(WireError) in
            guard field == tag(1, 2) else { return false }
            var path: CommentPath = []
            var comment = ""
            try nested(&reader) { (inner) throws(WireError) in
                try eachField(of: &inner) { (field, reader) throws(WireError) in
                    switch field {
                    case tag(1, 0): path.append(try reader.int32())
                    case tag(1, 2):
                        try reader.appendPacked(to: &path, atMost: .max) { (reader) throws(WireError) in
                            try reader.int32()
                        }
                    case tag(3, 2): comment = try reader.text()
                    default: return false
                    }
                    return true
                }
            }
            if !comment.isEmpty { comments[path] = comment }
            return true
        }
        self.comments = comments
    }
}

extension MessageDescriptor {
    fileprivate mutating func read(_ reader: inout WireReader) throws(WireError) {
        var message = self
        try eachField(of: &reader) { (number, reader) throws(WireError) in
            switch number {
            case tag(1, 2): message.name = try reader.text()
            case tag(2, 2):
                var field = FieldDescriptor(path: message.path + [2, Int32(message.fields.count)])
                try nested(&reader) { (inner) throws(WireError) in try field.read(&inner) }
                message.fields.append(field)
            case tag(3, 2), tag(4, 2):
                message.hasNestedTypes = true
                return false
            case tag(7, 2):
                try nested(&reader) { (inner) throws(WireError) in message.options = try optionValues(&inner) }
            case tag(8, 2):
                try nested(&reader) { (inner) throws(WireError) in
                    try eachField(of: &inner) { (number, reader) throws(WireError) in
                        guard number == tag(1, 2) else { return false }
                        message.oneofs.append(try reader.text())
                        return true
                    }
                }
            default: return false
            }
            return true
        }
        self = message
    }

}

extension OptionDescriptor {
    fileprivate mutating func read(_ reader: inout WireReader) throws(WireError) {
        var option = self
        try eachField(of: &reader) { (field, reader) throws(WireError) in
            switch field {
            case tag(1, 2): option.name = try reader.text()
            case tag(2, 2): option.extended = try reader.text()
            case tag(3, 0): option.number = try reader.uint32()
            default: return false
            }
            return true
        }
        self = option
    }
}

/// Options by their numbers. All options of Options.proto are numbers or truth values.
private func optionValues(_ reader: inout WireReader) throws(WireError) -> [UInt32: UInt64] {
    var options: [UInt32: UInt64] = [:]
    try eachField(of: &reader) { (field, reader) throws(WireError) in
        guard field & 7 == 0 else { return false }
        options[field >> 3] = try reader.number()
        return true
    }
    return options
}

extension FieldDescriptor {
    fileprivate mutating func read(_ reader: inout WireReader) throws(WireError) {
        var field = self
        try eachField(of: &reader) { (number, reader) throws(WireError) in
            switch number {
            case tag(1, 2): field.name = try reader.text()
            case tag(3, 0): field.number = try reader.int32()
            case tag(4, 0): field.isRepeated = try reader.int32() == 3
            case tag(5, 0): field.kind = Kind(rawValue: try reader.int32())
            case tag(6, 2): field.typeName = try reader.text()
            case tag(8, 2):
                try nested(&reader) { (inner) throws(WireError) in field.options = try optionValues(&inner) }
            case tag(9, 0): field.oneofIndex = Int(try reader.int32())
            case tag(17, 0): field.isOptional = try reader.flag()
            default: return false
            }
            return true
        }
        // protoc puts an optional field into a oneof of its own.
        if field.isOptional { field.oneofIndex = nil }
        self = field
    }
}

extension ChoiceDescriptor {
    fileprivate mutating func read(_ reader: inout WireReader) throws(WireError) {
        var choice = self
        try eachField(of: &reader) { (number, reader) throws(WireError) in
            switch number {
            case tag(1, 2): choice.name = try reader.text()
            case tag(2, 2):
                var value = (name: "", number: Int32(0), path: choice.path + [2, Int32(choice.values.count)])
                try nested(&reader) { (inner) throws(WireError) in
                    try eachField(of: &inner) { (number, reader) throws(WireError) in
                        switch number {
                        case tag(1, 2): value.name = try reader.text()
                        case tag(2, 0): value.number = try reader.int32()
                        default: return false
                        }
                        return true
                    }
                }
                choice.values.append(value)
            default: return false
            }
            return true
        }
        self = choice
    }
}
