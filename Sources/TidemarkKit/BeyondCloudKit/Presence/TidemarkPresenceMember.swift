// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A device that has a zone open now. CloudKit has no such type.
public struct TidemarkPresenceMember: Sendable, Identifiable, Equatable {
    /// Nobody else has it. A device that comes back has another one.
    public let id: UInt64
    /// The record name of its user.
    public let userRecordName: String
    /// What it has published last.
    public let state: Data
    /// Whether it is this device.
    public let isThisDevice: Bool
}

/// A message of a device that has a zone open. CloudKit has no such type.
public struct TidemarkPresenceMessage: Sendable, Equatable {
    /// Who sent it. They may be gone by now.
    public let memberID: UInt64
    /// The record name of the sender's user.
    public let userRecordName: String
    /// What was sent.
    public let content: Data
}
