// SPDX-License-Identifier: Apache-2.0

/// The result of ``CKSyncEngine/verify(_:)``. CloudKit has no such type.
public struct TidemarkZoneComparison: Sendable, Equatable, CustomStringConvertible {
    /// The zone.
    public let zoneID: CKRecordZone.ID
    /// The number of records that the server has.
    public let serverRecordCount: Int
    /// Records that the server has and the app has not.
    public internal(set) var missingHere: [CKRecord.ID] = []
    /// Records that the app has, with a change tag, and the server has not.
    public internal(set) var missingThere: [CKRecord.ID] = []
    /// Records that have different versions on both sides.
    public internal(set) var different: [CKRecord.ID] = []
    /// Records that differ in one of these ways and have unsent changes. They are expected to differ.
    public internal(set) var pending: [CKRecord.ID] = []

    /// Whether only records with pending changes differ.
    public var isEqual: Bool { missingHere.isEmpty && missingThere.isEmpty && different.isEmpty }

    /// For logs: no names.
    public var description: String {
        """
        TidemarkZoneComparison(there: \(serverRecordCount), missing here: \(missingHere.count), \
        missing there: \(missingThere.count), different: \(different.count), pending: \(pending.count))
        """
    }
}
