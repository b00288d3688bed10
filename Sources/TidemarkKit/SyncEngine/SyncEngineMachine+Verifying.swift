// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A question of ``CKSyncEngine/verify(_:)`` to the delegate: what it has of a zone.
final class SyncEngineHeldQuestion: Sendable {
    let zoneID: CKRecordZone.ID
    private let stored = Mutex<SyncEngineHeld?>(nil)

    init(zoneID: CKRecordZone.ID) { self.zoneID = zoneID }

    /// Nil until it was asked.
    var answer: SyncEngineHeld? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }
}

/// What a device has of a zone, between two operations of its engine.
struct SyncEngineHeld: Sendable {
    /// By record; nil if the delegate does not say.
    let changeTags: [CKRecord.ID: String]?
    /// How far the zone was fetched.
    let token: CKServerChangeToken?
    let user: CKRecord.ID?
    /// Records of which a change has still to be sent.
    let pending: Set<CKRecord.ID>
}

extension SyncEngineMachine {
    /// Asks the delegate between two operations, so that it has handled all that the tokens say.
    mutating func heldCalled(_ id: SyncEngineCallID, _ question: SyncEngineHeldQuestion, at moment: SyncEngineMoment) {
        guard !isStopped else { return refuse(id) }
        heldCalls.append((id, question))
    }

    mutating func askForHeld() {
        for call in heldCalls {
            outbox.append(.askHeld(call.question))
            outbox.append(.finish(call.id, .success(())))
        }
        heldCalls = []
    }
}

extension SyncEngineSnapshot {
    /// Records of the zone that are still to be saved or deleted, or are being sent.
    func changedRecords(in zoneID: CKRecordZone.ID) -> Set<CKRecord.ID> {
        Set((pendingRecords.elements + inFlightRecords).map(\.recordID).filter { $0.zoneID == zoneID })
    }
}
