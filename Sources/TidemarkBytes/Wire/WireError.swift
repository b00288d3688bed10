// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a message of the protocol.
@usableFromInline
package struct WireError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    @usableFromInline
    package enum Code: Sendable, CaseIterable {
        /// The bytes end within a value.
        case truncated
        /// A number has more than ten bytes, or more than it needs where each number has one encoding.
        case overlong
        /// The tag has the field number 0, a number that is too large, or a wire type that does not exist.
        case badTag
        /// A known field has another wire type than the `.proto` file says.
        case wrongType
        /// A string is not UTF-8.
        case badText
        /// A field, or the whole message, has more elements than the `.proto` file allows.
        case tooManyElements
        /// A string or bytes are longer than the `.proto` file allows.
        case tooManyBytes
        /// A message contains itself deeper than the `.proto` file allows.
        case tooDeep
    }

    package let code: Code
    /// The offset at which it was noticed.
    package let offset: Int

    @usableFromInline
    package init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// Whether the message is well-formed up to here, and exceeds a bound of the `.proto` file.
    package var isBound: Bool {
        switch code {
        case .tooManyElements, .tooManyBytes, .tooDeep: true
        case .truncated, .overlong, .badTag, .wrongType, .badText: false
        }
    }

    @usableFromInline package var description: String { "\(code) at byte \(offset)" }
}
