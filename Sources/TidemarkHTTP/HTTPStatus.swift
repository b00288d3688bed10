// SPDX-License-Identifier: Apache-2.0

/// A response's status (RFC 9110 §15): three digits and their phrase.
package struct HTTPStatus: Hashable, Sendable {
    /// 100 … 599.
    package let code: Int
    package let reason: String

    package init(_ code: Int, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// Two statuses are equal if their numbers are. The phrase means nothing (RFC 9112 §4).
    package static func == (left: HTTPStatus, right: HTTPStatus) -> Bool { left.code == right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }

    package static let switchingProtocols = HTTPStatus(101, "Switching Protocols")
    package static let ok = HTTPStatus(200, "OK")
    package static let noContent = HTTPStatus(204, "No Content")
    package static let notModified = HTTPStatus(304, "Not Modified")
    package static let badRequest = HTTPStatus(400, "Bad Request")
    package static let unauthorized = HTTPStatus(401, "Unauthorized")
    package static let forbidden = HTTPStatus(403, "Forbidden")
    package static let notFound = HTTPStatus(404, "Not Found")
    package static let methodNotAllowed = HTTPStatus(405, "Method Not Allowed")
    package static let requestTimeout = HTTPStatus(408, "Request Timeout")
    package static let contentTooLarge = HTTPStatus(413, "Content Too Large")
    package static let targetTooLong = HTTPStatus(414, "URI Too Long")
    package static let expectationFailed = HTTPStatus(417, "Expectation Failed")
    package static let upgradeRequired = HTTPStatus(426, "Upgrade Required")
    package static let tooManyRequests = HTTPStatus(429, "Too Many Requests")
    package static let fieldsTooLarge = HTTPStatus(431, "Request Header Fields Too Large")
    package static let notImplemented = HTTPStatus(501, "Not Implemented")
    package static let serviceUnavailable = HTTPStatus(503, "Service Unavailable")
    package static let versionNotSupported = HTTPStatus(505, "HTTP Version Not Supported")
}
