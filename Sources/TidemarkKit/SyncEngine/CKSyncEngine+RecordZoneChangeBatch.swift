// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

extension CKSyncEngine {
    /// Changes of records that go to the server in one request, saved if the server's record is unchanged.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// Records to save. The engine sends them as they are when the batch is handed over.
        public var recordsToSave: [CKRecord]
        /// Records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// Whether the changes of one zone succeed or fail together; false unless set.
        public var atomicByZone: Bool

        /// A batch of just these changes, pending or not.
        public init(recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [], atomicByZone: Bool = false) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// As many of the pending changes, in their order, as fit into one batch (R-156: 250 changes, 1.5 MB). A record whose
        /// parent is among them comes after it, wherever that stands: the server takes no child without its parent.
        ///
        /// - Parameters:
        ///   - pendingChanges: usually the engine's pending changes that are in the scope of the context.
        ///   - recordProvider: gives the record to save; nil passes over the change, which stays pending until the app
        ///     removes it. The engine asks for it again, after seconds first, then minutes.
        /// - Returns: nil if there is nothing to send.
        public init?(
            pendingChanges: [PendingRecordZoneChange], recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            var filling = Filling()
            // Both are needed only once there is a child.
            var saves: Set<CKRecord.ID> = []
            var asked: Set<CKRecord.ID> = []
            for change in pendingChanges {
                guard itemCount < SyncEngineLimits.batchItemsMax else { break }
                switch change {
                case .deleteRecord(let recordID):
                    recordIDsToDelete.append(recordID)
                case .saveRecord(let recordID):
                    guard !asked.contains(recordID), let record = await recordProvider(recordID) else { continue }
                    guard record.parent != nil else {
                        guard take(record, &filling) else { return }
                        if !asked.isEmpty { asked.insert(recordID) }
                        continue
                    }
                    if saves.isEmpty {
                        saves = Set(pendingChanges.compactMap(\.recordIDToSave))
                        asked = Set(recordsToSave.map(\.recordID))
                    }
                    asked.insert(recordID)
                    var line = [record]
                    while let parentID = line.last?.parent?.recordID, saves.contains(parentID),
                        asked.insert(parentID).inserted, let parent = await recordProvider(parentID)
                    {
                        line.append(parent)
                        // Of a long line the eldest go first; the others are pending still.
                        if line.count > SyncEngineLimits.batchItemsMax { line.removeFirst() }
                    }
                    for record in line.reversed() {
                        guard itemCount < SyncEngineLimits.batchItemsMax, take(record, &filling) else { return }
                    }
                }
            }
            if isEmpty { return nil }
        }

        /// How full a batch is.
        private struct Filling {
            var byteCount = 0
            /// To count takes as long as to send: of a record that goes alone it is not done.
            var uncounted: CKRecord?
        }

        /// - Returns: whether there was room.
        private mutating func take(_ record: CKRecord, _ filling: inout Filling) -> Bool {
            if itemCount == 0 {
                // One that is too big even alone is sent all the same: the server says so.
                filling.uncounted = record
            } else {
                filling.byteCount += (filling.uncounted?.batchByteCount ?? 0) + record.batchByteCount
                filling.uncounted = nil
                if filling.byteCount > SyncEngineLimits.batchBytesMax { return false }
            }
            recordsToSave.append(record)
            return true
        }

        /// For logs.
        public var description: String {
            """
            RecordZoneChangeBatch(saves: \(recordsToSave.count), deletes: \(recordIDsToDelete.count), \
            atomicByZone: \(atomicByZone))
            """
        }
    }
}

extension CKSyncEngine.PendingRecordZoneChange {
    fileprivate var recordIDToSave: CKRecord.ID? {
        if case .saveRecord(let recordID) = self { recordID } else { nil }
    }
}

extension CKSyncEngine.RecordZoneChangeBatch {
    var itemCount: Int { recordsToSave.count + recordIDsToDelete.count }

    var isEmpty: Bool { itemCount == 0 }

    var recordIDs: [CKRecord.ID] { recordsToSave.map(\.recordID) + recordIDsToDelete }

    var changes: [CKSyncEngine.PendingRecordZoneChange] {
        recordsToSave.map { .saveRecord($0.recordID) } + recordIDsToDelete.map { .deleteRecord($0) }
    }

    /// Why the batch is not even sent: too many changes, or two of the same record.
    var refusal: CKError.Code? {
        if itemCount > SyncEngineLimits.batchItemsMax { return .limitExceeded }
        return Set(recordIDs).count < itemCount ? .invalidArguments : nil
    }

    /// The same with records of its own.
    func copied() -> Self {
        var copy = self
        copy.recordsToSave = recordsToSave.map { $0.copied() }
        return copy
    }
}

extension CKRecord {
    /// All assets take as many bytes in a record, whatever is in their files, which nobody has read yet.
    private static let anyAsset = FieldAsset(
        sha256: [UInt8](repeating: 0, count: FieldAsset.sha256ByteCount), byteCount: .max)

    /// About how much longer a value gets by being encrypted: a key's name, a nonce, a tag, and its own head once more.
    private static let sealBytes = 96

    /// About how many bytes it takes to send this record's changes. Those that cannot be sent are found out by who
    /// sends them; here they count little.
    fileprivate var batchByteCount: Int {
        let assets = sentAssets(all: false).map { (ObjectIdentifier($0), Self.anyAsset) }
        let changes = try? changes(all: false, assets: Dictionary(assets) { first, _ in first })
        let fieldByteCount = changes?.fields.byteCount ?? 0
        let sealedCount = changes?.fields.count { $0.isEncrypted } ?? 0
        let nameByteCount = recordID.recordName.utf8.count + recordID.zoneID.zoneName.utf8.count
        return fieldByteCount + sealedCount * Self.sealBytes + nameByteCount + 64
    }
}
