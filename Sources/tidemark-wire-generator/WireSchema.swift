// SPDX-License-Identifier: Apache-2.0

/// The protocol as the `.proto` files declare it. Its initializer checks it.
struct WireSchema {
    /// Something in the `.proto` files that the generator does not support.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The files that declare messages or enumerations of the protocol.
    let files: [ProtoFile]
    private var messages: [String: MessageDescriptor] = [:]
    private var typeNames: [String: String] = [:]
    /// Messages that may contain themselves.
    private var recursive: Set<String> = []

    init(_ files: [ProtoFile]) throws(Failure) {
        // The order of the set depends on imports. The order of the names does not.
        self.files = files.filter {
            !$0.package.hasPrefix("google.") && !($0.messages.isEmpty && $0.choices.isEmpty)
        }.sorted { $0.name < $1.name }
        for file in self.files {
            for message in file.messages {
                messages[".\(file.package).\(message.name)"] = message
                typeNames[".\(file.package).\(message.name)"] = file.typePrefix + message.name
            }
            for choice in file.choices {
                typeNames[".\(file.package).\(choice.name)"] = file.typePrefix + choice.name
            }
        }
        for name in messages.keys where isReachable(name, from: name) { recursive.insert(name) }
        for name in messages.keys.sorted() { if let message = messages[name] { try check(name, message) } }
    }

    func typeName(of field: FieldDescriptor) -> String { typeNames[field.typeName] ?? field.typeName }

    /// Whether the field's type can contain its own message.
    func isRecursive(_ field: FieldDescriptor, in message: MessageDescriptor, of file: ProtoFile) -> Bool {
        let name = ".\(file.package).\(message.name)"
        return field.typeName == name || isReachable(name, from: field.typeName)
    }

    private func isReachable(_ name: String, from start: String) -> Bool {
        var seen: Set<String> = []
        var waiting = messages[start]?.fields.map(\.typeName) ?? []
        while let next = waiting.popLast() {
            if next == name { return true }
            if seen.insert(next).inserted { waiting += messages[next]?.fields.map(\.typeName) ?? [] }
        }
        return false
    }

    /// Whether the message can contain itself without a message between that counts its depth.
    private func isUnbounded(_ name: String) -> Bool {
        var seen: Set<String> = []
        var waiting = [name]
        while let next = waiting.popLast() {
            guard let message = messages[next], message.depthMax == nil else { continue }
            for field in message.fields where field.kind == .message {
                if field.typeName == name { return true }
                if seen.insert(field.typeName).inserted { waiting.append(field.typeName) }
            }
        }
        return false
    }

    // MARK: Checks

    private func check(_ name: String, _ message: MessageDescriptor) throws(Failure) {
        func fail(_ text: String) throws(Failure) { throw Failure(description: "\(name): \(text)") }
        if message.hasNestedTypes { try fail("types within a message are not supported") }
        if isUnbounded(name) { try fail("it may contain itself without end: give it most_depth") }
        if message.depthMax != nil, !recursive.contains(name) { try fail("most_depth, but it cannot contain itself") }
        if (message.depthMax == nil) != (message.countInAllMax == nil) {
            try fail("most_depth and most_in_all belong together")
        }
        var oneofOrder: [Int] = []
        for field in message.fields.sorted(by: { $0.number < $1.number }) {
            if let text = failure(of: field) { try fail("\(field.name): \(text)") }
            if recursive.contains(name), isReachable(name, from: field.typeName) || field.typeName == name,
                !field.isRepeated, field.oneofIndex == nil
            {
                try fail("\(field.name): a message that contains itself must be repeated or in a oneof")
            }
            oneofOrder.append(field.oneofIndex ?? -1)
        }
        for index in message.oneofs.indices {
            guard let first = oneofOrder.firstIndex(of: index), let last = oneofOrder.lastIndex(of: index) else {
                continue
            }
            if oneofOrder[first...last].contains(where: { $0 != index }) {
                try fail("another field's number is between those of \(message.oneofs[index])")
            }
        }
    }

    private func failure(of field: FieldDescriptor) -> String? {
        guard let kind = field.kind else { return "this type is not supported" }
        let hasBytes = kind == .string || kind == .bytes
        if field.number > 63 { return "a number above 63 is not supported" }
        if field.isRepeated, field.elementsMax == nil { return "a repeated field needs most_elements" }
        if !field.isRepeated, field.elementsMax != nil { return "most_elements, but it is not repeated" }
        if field.bytesMax != nil, !hasBytes { return "most_bytes, but it has no bytes" }
        if field.isSlice, kind != .bytes || field.isRepeated { return "only bytes can be a slice" }
        if kind == .message || kind == .choice, typeNames[field.typeName] == nil { return "its type is not known" }
        return nil
    }
}
