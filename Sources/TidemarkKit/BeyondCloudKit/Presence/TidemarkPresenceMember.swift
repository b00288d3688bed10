// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A device that has a zone open now. CloudKit has no such type.
public struct TidemarkPresenceMember: Sendable, Identifiable, Equatable {
    /// No other member has the same value. A device that comes back gets a new one.
    public let id: UInt64
    /// The record name of its user.
    public let userRecordName: String
    /// The state that it published last.
    public let state: Data
    /// Whether it is this device.
    public let isThisDevice: Bool
}

/// A message of a device that has a zone open. CloudKit has no such type.
public struct TidemarkPresenceMessage: Sendable, Equatable {
    /// The member that sent it. The member may be gone.
    public let memberID: UInt64
    /// The record name of the sender's user.
    public let userRecordName: String
    /// The bytes that were sent.
    public let content: Data
}
