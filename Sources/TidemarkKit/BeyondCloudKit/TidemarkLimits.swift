// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// The limits of a server for the user of a container (R-936). CloudKit has no such type: its limits are in its documentation.
///
/// A property is nil if the server does not say it, or if there is no limit. A request that passes a limit fails with the error of that
/// property, so code does not have to check first. An app that shows how full the storage is (R-962) compares ``quotaUsedBytes`` with
/// ``quotaBytes``.
public struct TidemarkLimits: Sendable, Equatable, CustomStringConvertible {
    /// Records that one request may save, delete or fetch. More: `limitExceeded`.
    public let itemsPerRequest: Int?
    /// Bytes of all fields in one request that saves records, without assets. More: `limitExceeded`.
    public let requestBytes: Int?
    /// Bytes of one record's fields, without assets. More: `limitExceeded` for that record.
    public let recordBytes: Int?
    /// Bytes of one message, with all that belongs to a request. More: `limitExceeded`.
    public let messageBytes: Int?
    /// Bytes of one `CKAsset`. More: `limitExceeded`. 0: the server keeps no assets.
    public let assetBytes: Int64?
    /// The account's requests in a second, as a long-term average, from all its devices to one server. Parts of assets do not count. More:
    /// `requestRateLimited` with `retryAfterSeconds`. Sync engines wait that long by themselves.
    public let requestsPerSecond: Int?
    /// Requests of the account at once, after it has sent none for a while.
    public let requestBurst: Int?
    /// Connections of the account to one server, of all its devices and containers together. Each process that syncs has one for
    /// a container. More: `requestRateLimited` with `retryAfterSeconds`, until another one ends.
    public let connections: Int?
    /// Bytes that the user's private database may hold, with assets. More: `quotaExceeded`. All private databases of the account together
    /// may have a quota too. Then it is the one of the two that leaves less room.
    public let quotaBytes: Int64?
    /// Bytes of ``quotaBytes`` that were used when the container connected. They may be more than the quota, if an operator
    /// has lowered it. Nil also if the account has more than 1,000 zones, which the server does not count then. The server does
    /// not tell of changes on an open connection.
    public let quotaUsedBytes: Int64?

    init(_ wire: WireServerLimits, isSignedIn: Bool) {
        func known(_ value: UInt32) -> Int? { value == 0 ? nil : Int(value) }
        itemsPerRequest = known(wire.itemsMax)
        requestBytes = known(wire.requestBytesMax)
        recordBytes = known(wire.recordBytesMax)
        messageBytes = known(wire.messageBytesMax)
        // An older server says no limits at all.
        assetBytes = wire.itemsMax == 0 ? nil : Int64(clamping: wire.assetBytesMax)
        requestsPerSecond = isSignedIn ? known(wire.requestsPerSecond) : nil
        requestBurst = isSignedIn ? known(wire.requestBurst) : nil
        connections = isSignedIn ? known(wire.connectionsMax) : nil
        quotaBytes = isSignedIn ? wire.quotaBytes.map { Int64(clamping: $0) } : nil
        quotaUsedBytes = isSignedIn ? wire.quotaUsedBytes.map { Int64(clamping: $0) } : nil
    }

    /// For logs.
    public var description: String {
        let parts: [(String, Int64?)] = [
            ("items per request", itemsPerRequest.map { Int64($0) }), ("request bytes", requestBytes.map { Int64($0) }),
            ("record bytes", recordBytes.map { Int64($0) }), ("message bytes", messageBytes.map { Int64($0) }),
            ("asset bytes", assetBytes), ("requests per second", requestsPerSecond.map { Int64($0) }),
            ("request burst", requestBurst.map { Int64($0) }), ("connections", connections.map { Int64($0) }),
            ("quota bytes", quotaBytes), ("quota used bytes", quotaUsedBytes),
        ]
        let known = parts.compactMap { name, value in value.map { "\(name): \($0)" } }
        return "TidemarkLimits(\(known.joined(separator: ", ")))"
    }
}

extension CKContainer {
    /// The server's limits, as it sent them when this container last connected (R-936). Nil: it has not connected yet with the credential
    /// that is in use. ``accountStatus()`` connects.
    ///
    /// An operator may change a limit at any time. The container gets the new value with its next connection.
    public var limits: TidemarkLimits? { context.connection.limits }
}
