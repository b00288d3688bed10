// SPDX-License-Identifier: Apache-2.0

/// A response without its body (RFC 9112 §4).
package struct ResponseHead: Equatable, Sendable {
    package var version: HTTPVersion
    package var status: HTTPStatus
    package var fields: HeaderFields

    package init(version: HTTPVersion = .http11, status: HTTPStatus, fields: HeaderFields = HeaderFields()) {
        self.version = version
        self.status = status
        self.fields = fields
    }

    /// The head as bytes, with the empty line that ends it.
    package func serialized() -> [UInt8] {
        precondition((100...599).contains(status.code), "not a status")
        precondition(HeaderFields.isValidValue(status.reason), "not a reason phrase")
        var text = "\(version.text) \(status.code) \(status.reason)\r\n"
        fields.print(into: &text)
        return Array(text.utf8)
    }
}
