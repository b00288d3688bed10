// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@testable import tidemark_wire_generator

@Suite struct OptionTests {
    private func value(_ number: UInt64, _ value: UInt64) -> [UInt8] {
        var writer = WireWriter(capacity: 8)
        writer.number(number << 3)
        writer.number(value)
        return writer.bytes
    }

    private func part(_ number: UInt64, _ content: [UInt8]) -> [UInt8] {
        var writer = WireWriter(capacity: content.count + 8)
        writer.number(number << 3 | 2)
        writer.content(content)
        return writer.bytes
    }

    private func part(_ number: UInt64, _ text: String) -> [UInt8] { part(number, Array(text.utf8)) }

    /// What protoc makes of a file that declares an option, and of one that gives it to a list of strings.
    private func descriptorSet(option: String) -> [UInt8] {
        let declared = part(1, option) + part(2, ".google.protobuf.FieldOptions") + value(3, 50_007)
        let options = part(1, "Options.proto") + part(2, "test") + part(7, declared)
        let field = part(1, "names") + value(3, 1) + value(4, 3) + value(5, 9) + part(8, value(50_007, 77))
        let message = part(1, "Some") + part(2, field)
        return part(1, options) + part(1, part(1, "Some.proto") + part(2, "test") + part(4, message))
    }

    @Test func `an option has the number that its file gives it`() throws {
        let files = try fileDescriptors(in: descriptorSet(option: "most_elements"))
        let field = try #require(files.last?.messages.first?.fields.first)
        #expect(field.name == "names" && field.isRepeated && field.elementsMax == 77)
    }

    @Test func `an option that the generator does not know is refused`() {
        #expect(throws: WireSchema.Failure.self) { try fileDescriptors(in: descriptorSet(option: "most_wanted")) }
    }
}
