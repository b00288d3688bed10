// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tidemark_wire_generator

@Suite struct WireSchemaTests {
    private func field(
        _ number: Int32 = 1, _ kind: FieldDescriptor.Kind? = .string, type: String = "",
        _ change: (inout FieldDescriptor) -> Void = { _ in }
    ) -> FieldDescriptor {
        var field = FieldDescriptor(name: "some_field", number: number, kind: kind, typeName: type)
        change(&field)
        return field
    }

    /// Nil if the generator can make a message of these fields.
    private func refusal(
        _ fields: [FieldDescriptor], _ change: (inout MessageDescriptor) -> Void = { _ in }
    ) -> String? {
        var message = MessageDescriptor(name: "Some", fields: fields)
        change(&message)
        let file = ProtoFile(name: "Some.proto", package: "test", messages: [message], typePrefix: "Wire")
        do throws(WireSchema.Failure) {
            let schema = try WireSchema([file])
            #expect(FilePrinter(file: file, schema: schema).text().contains("struct WireSome"))
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `a repeated field has a bound`() {
        #expect(refusal([field()]) == nil)
        #expect(refusal([field { $0.isRepeated = true }])?.contains("most_elements") == true)
        #expect(refusal([field { ($0.isRepeated, $0.elementsMax) = (true, 10) }]) == nil)
        #expect(refusal([field { $0.elementsMax = 10 }]) != nil)
    }

    @Test func `a message that may contain itself has a bound`() {
        let own = field(1, .message, type: ".test.Some") { ($0.isRepeated, $0.elementsMax) = (true, 10) }
        #expect(refusal([own])?.contains("most_depth") == true)
        #expect(refusal([own]) { $0.depthMax = 9 }?.contains("most_in_all") == true)
        #expect(refusal([own]) { ($0.depthMax, $0.countInAllMax) = (9, 99) } == nil)
        #expect(refusal([field()]) { ($0.depthMax, $0.countInAllMax) = (9, 99) } != nil)
        #expect(refusal([field()]) { $0.countInAllMax = 99 } != nil)
        #expect(refusal([field(1, .message, type: ".test.Some")]) { ($0.depthMax, $0.countInAllMax) = (9, 99) } != nil)
    }

    @Test func `a message in many pieces is not copied with each of them`() throws {
        let fields = [
            field(1, .message, type: ".test.Other") { $0.name = "alone" },
            field(2, .message, type: ".test.Other") { ($0.name, $0.oneofIndex) = ("one", 0) },
        ]
        let message = MessageDescriptor(name: "Some", fields: fields, oneofs: ["choice"])
        let other = MessageDescriptor(name: "Other", fields: [field()])
        let file = ProtoFile(name: "Some.proto", package: "test", messages: [message, other], typePrefix: "Wire")
        let lines = FilePrinter(file: file, schema: try WireSchema([file])).text().split(separator: "\n")
            .map { $0.drop { $0 == " " } }
        for (start, end) in [("self.presentAlone = nil", "value"), ("self.choice = nil", ".one(value)")] {
            let place = try #require(lines.firstIndex { $0 == start })
            #expect(lines[place + 1] == "try reader.read(&value)" && lines[place + 2].hasSuffix(" = \(end)"))
        }
    }

    @Test func `what a oneof may hold has a name without the value`() throws {
        let fields = [
            field(1) { ($0.name, $0.oneofIndex) = ("save_url", 0) },
            field(2) { ($0.name, $0.oneofIndex) = ("import", 0) },
            field(3) { $0.isOptional = true },
        ]
        var message = MessageDescriptor(name: "Some", fields: fields, oneofs: ["request", "_some_field"])
        for listsKinds in [true, false] {
            message.listsKinds = listsKinds
            let file = ProtoFile(name: "Some.proto", package: "test", messages: [message], typePrefix: "Wire")
            let text = FilePrinter(file: file, schema: try WireSchema([file])).text()
            #expect(text.contains("package enum WireRequestKind: Int, CaseIterable, Sendable {\n") == listsKinds)
            #expect(text.contains("    case saveURL\n    case `import`\n") == listsKinds)
            #expect(text.contains("        case .saveURL: \"save_url\"\n") == listsKinds)
            #expect(text.contains("        case .import: .import\n") == listsKinds)
            #expect(!text.contains("SomeFieldKind"))
        }
    }

    @Test func `what the generator does not know is refused`() {
        #expect(refusal([field(1, nil)]) != nil)
        #expect(refusal([field(64)]) != nil)
        #expect(refusal([field(1, .message, type: ".test.Other")]) != nil)
        #expect(refusal([field(1, .string) { $0.isSlice = true }]) != nil)
        #expect(refusal([field(1, .uint64) { $0.bytesMax = 3 }]) != nil)
        #expect(refusal([field()]) { $0.hasNestedTypes = true } != nil)
        let mixed = [field(1) { $0.oneofIndex = 0 }, field(2), field(3) { $0.oneofIndex = 0 }]
        #expect(refusal(mixed) { $0.oneofs = ["choice"] } != nil)
    }

    @Test func `an optional field may be missing where messages are written field by field`() throws {
        let fields = [field(1, .bytes) { $0.isOptional = true }]
        let message = MessageDescriptor(name: "Some", fields: fields, isStreamed: true)
        let file = ProtoFile(name: "Some.proto", package: "test", messages: [message], typePrefix: "Wire")
        let text = FilePrinter(file: file, schema: try WireSchema([file])).text()
        #expect(text.contains("package var someField: [UInt8]?"))
        #expect(text.contains("someField: SomeField? = [UInt8]?.none"))
        #expect(text.contains("if let someField { size += 1 + WireSize.content(someField) }"))
    }

    @Test func `tags are made of a file whose messages other code reads`() throws {
        let fields = [field(2, .sint64) { $0.name = "other" }, field(1, .bytes) { $0.isRepeated = true }]
        let message = MessageDescriptor(name: "Some", fields: fields)
        var file = ProtoFile(name: "Some.proto", package: "test", messages: [message])
        let text = try TagPrinter(file: file).text()
        #expect(text.contains("static let someField: UInt8 = 10\n") && text.contains("static let other: UInt8 = 16\n"))
        file.messages[0].fields.append(field(16))
        #expect(throws: WireSchema.Failure.self) { try TagPrinter(file: file).text() }
    }

    @Test func `names are those of Swift`() {
        #expect(SwiftNames.property("subscription_id") == "subscriptionID")
        #expect(SwiftNames.property("id") == "id" && SwiftNames.property("collapse_id_key") == "collapseIDKey")
        #expect(SwiftNames.choice("ERROR_CODE_UNSPECIFIED", of: "ErrorCode") == "unspecified")
        #expect(SwiftNames.choice("PARENT_SET", of: "ParentChange") == "parentSet")
        #expect(SwiftNames.declared("operator") == "`operator`")
    }
}
