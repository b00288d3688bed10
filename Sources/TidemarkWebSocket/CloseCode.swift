// SPDX-License-Identifier: Apache-2.0

/// Why a WebSocket ends (RFC 6455 §7.4 and its IANA registry).
package struct CloseCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static let normal = CloseCode(rawValue: 1000)
    package static let goingAway = CloseCode(rawValue: 1001)
    package static let protocolError = CloseCode(rawValue: 1002)
    package static let unsupportedData = CloseCode(rawValue: 1003)
    package static let invalidPayload = CloseCode(rawValue: 1007)
    package static let policyViolation = CloseCode(rawValue: 1008)
    package static let messageTooBig = CloseCode(rawValue: 1009)
    package static let mandatoryExtension = CloseCode(rawValue: 1010)
    package static let internalError = CloseCode(rawValue: 1011)
    package static let tryAgainLater = CloseCode(rawValue: 1013)

    /// Whether a close frame may carry the code: it is registered and not reserved, or meant for libraries and
    /// applications (RFC 6455 §7.4.2).
    package var isValidOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension CloseCode: CustomStringConvertible {
    package var description: String { String(rawValue) }
}
