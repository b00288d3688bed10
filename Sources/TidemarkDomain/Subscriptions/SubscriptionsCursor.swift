// SPDX-License-Identifier: Apache-2.0

/// How far a client has read in the subscriptions of a user and scope, which come by ID. Opaque to clients.
///
/// It is the ID of the last one that was read. So a subscription that is saved or deleted between two pages moves no
/// other to another page.
package struct SubscriptionsCursor: Sendable, Hashable {
    package let lastID: String

    package init(lastID: String) {
        self.lastID = lastID
    }

    private static let version: UInt64 = 1

    package var bytes: [UInt8] {
        var writer = CompactWriter()
        writer.write(Self.version)
        writer.write(Array(lastID.utf8))
        return TokenChecksum.sealing(writer.bytes)
    }

    /// Nil if the bytes are not a cursor of any version that this server knows.
    package init?(bytes: [UInt8]) {
        guard let content = TokenChecksum.opening(bytes) else { return nil }
        var reader = CompactReader(content)
        guard reader.readNumber() == Self.version, let id = reader.readContent(), reader.isAtEnd else { return nil }
        self.init(lastID: String(decoding: id, as: UTF8.self))
    }

    /// A client's cursor; nil if it has none (empty bytes). `cursorInvalid` for a cursor that was cut or garbled.
    package static func opened(_ bytes: [UInt8]) -> Result<SubscriptionsCursor?, FailureReason> {
        if bytes.isEmpty { return .success(nil) }
        guard let cursor = SubscriptionsCursor(bytes: bytes) else { return .failure(.cursorInvalid) }
        return .success(cursor)
    }
}
