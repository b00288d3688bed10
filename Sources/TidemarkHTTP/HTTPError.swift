// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not a head or a body: a code, and the status with which a server answers before it closes.
package struct HTTPError: Error, Equatable, Sendable {
    /// The causes of the error, each with its section of the RFC.
    package enum Code: String, Sendable, CaseIterable {
        /// A line break that is not CR LF, or a CR that no LF follows (RFC 9112 §2.2).
        case bareLineBreak
        /// A control character, or another byte that no grammar allows here.
        case badCharacter
        /// The first line is not `method SP target SP HTTP/digit.digit` (RFC 9112 §3).
        case malformedRequestLine
        /// The first line is not `HTTP/digit.digit SP status SP [reason]` (RFC 9112 §4).
        case malformedStatusLine
        /// The request target has none of the four forms, or not the form its method wants (RFC 9112 §3.2).
        case invalidTarget
        /// The request line exceeds ``HeadLimits/startLineBytesMax``.
        case targetTooLong
        /// A major version other than 1.
        case unsupportedVersion
        /// No colon, an empty or invalid name, white space before the colon (RFC 9112 §5).
        case malformedField
        /// A line that begins with white space: obs-fold is refused (RFC 9112 §5.2).
        case foldedField
        /// More lines than ``HeadLimits/fieldCountMax``.
        case tooManyFields
        /// More bytes than ``HeadLimits/headBytesMax``.
        case headTooLarge
        /// HTTP/1.1 without Host (RFC 9112 §3.2).
        case missingHost
        /// Host twice, empty, or not `host[:port]` (RFC 9112 §3.2).
        case invalidHost
        /// Content-Length and Transfer-Encoding that contradict each other or themselves, by which requests are
        /// smuggled (RFC 9112 §6.1, §6.3).
        case ambiguousBody
        /// A transfer coding other than `chunked` (RFC 9112 §6.1).
        case unsupportedTransferCoding
        /// A chunk's size, its end or the trailer section breaks RFC 9112 §7.1, or there is much more of these than of content.
        case malformedChunk
        /// More content than the server takes for this request.
        case bodyTooLarge
        /// An expectation other than `100-continue` (RFC 9110 §10.1.1).
        case unknownExpectation
    }

    package let code: Code

    package init(_ code: Code) {
        self.code = code
    }

    /// The status with which a server answers.
    package var status: HTTPStatus {
        switch code {
        case .targetTooLong: .targetTooLong
        case .tooManyFields, .headTooLarge: .fieldsTooLarge
        case .unsupportedVersion: .versionNotSupported
        case .unsupportedTransferCoding: .notImplemented
        case .bodyTooLarge: .contentTooLarge
        case .unknownExpectation: .expectationFailed
        case .bareLineBreak, .badCharacter, .malformedRequestLine, .malformedStatusLine, .invalidTarget,
            .malformedField, .foldedField, .missingHost, .invalidHost, .ambiguousBody, .malformedChunk:
            .badRequest
        }
    }
}

extension HTTPError: CustomStringConvertible {
    package var description: String { "HTTP refused: \(code.rawValue)" }
}
