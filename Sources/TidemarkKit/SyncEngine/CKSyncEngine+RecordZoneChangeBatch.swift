// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

extension CKSyncEngine {
    /// Changes of records in one request. Records are saved if the server's record is unchanged.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// Records to save. The engine sends them in the state in which the batch is returned.
        public var recordsToSave: [CKRecord]
        /// Records to delete.
        public var recordIDsToDelete: [CKRecord.ID]
        /// Whether the changes of one zone succeed or fail together; false unless set.
        public var atomicByZone: Bool

        /// A batch of exactly these changes, pending or not.
        public init(recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [], atomicByZone: Bool = false) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// As many of the pending changes, in their order, as fit in one batch (R-156: 250 changes, 1.5 MB). A record
        /// follows its parent if both are in the list, wherever the parent stands, because the server accepts
        /// no child without its parent. A new share and its root are in one batch if both are in the list.
        ///
        /// - Parameters:
        ///   - pendingChanges: usually the engine's pending changes within the scope of the context.
        ///   - recordProvider: returns the record to save. Nil skips the change, which stays pending until the app
        ///     removes it. The engine asks for it again, first after seconds, then after minutes.
        /// - Returns: nil if there is nothing to send.
        public init?(
            pendingChanges: [PendingRecordZoneChange], recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            self.init()
            var filling = Filling()
            var gathering = Gathering()
            for change in pendingChanges {
                guard itemCount < SyncEngineLimits.batchItemsMax else { break }
                switch change {
                case .deleteRecord(let recordID):
                    recordIDsToDelete.append(recordID)
                case .saveRecord(let recordID):
                    guard !gathering.asked.contains(recordID), let record = await recordProvider(recordID) else {
                        continue
                    }
                    guard record.parent != nil || record.idSavedWithIt != nil else {
                        guard take([record], &filling) else { return }
                        if !gathering.asked.isEmpty { gathering.asked.insert(recordID) }
                        continue
                    }
                    if gathering.saves.isEmpty {
                        gathering.saves = Set(pendingChanges.compactMap(\.recordIDToSave))
                        gathering.asked = Set(recordsToSave.map(\.recordID))
                    }
                    gathering.asked.insert(recordID)
                    for records in await gathering.line(of: record, recordProvider) {
                        guard take(records, &filling) else { return }
                    }
                }
            }
            if isEmpty { return nil }
        }

        /// Brings together what must be in one batch, or in this order. Needed only if there is a child, or a new share.
        private struct Gathering {
            /// All pending saves.
            var saves: Set<CKRecord.ID> = []
            /// Records that the app was asked for.
            var asked: Set<CKRecord.ID> = []

            /// The record after its ancestors, each with its new share.
            mutating func line(
                of record: CKRecord, _ recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
            ) async -> [[CKRecord]] {
                var line = [await pair(of: record, recordProvider)]
                while let parentID = line.last?.first?.parent?.recordID, saves.contains(parentID),
                    asked.insert(parentID).inserted, let parent = await recordProvider(parentID)
                {
                    line.append(await pair(of: parent, recordProvider))
                    // In a long line the oldest ancestors go first. The others stay pending.
                    if line.count > SyncEngineLimits.batchItemsMax { line.removeFirst() }
                }
                return line.reversed()
            }

            /// A root and its new share, if the record is one of them; otherwise the record alone. The root is first, because it
            /// may have a parent.
            private mutating func pair(
                of record: CKRecord, _ recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
            ) async -> [CKRecord] {
                guard let otherID = record.idSavedWithIt, saves.contains(otherID), asked.insert(otherID).inserted,
                    let other = await recordProvider(otherID)
                else { return [record] }
                return record is CKShare ? [other, record] : [record, other]
            }
        }

        /// How full a batch is.
        private struct Filling {
            var byteCount = 0
            /// Counting the bytes takes as long as sending them, so a record that goes alone is not counted.
            var uncounted: CKRecord?
        }

        /// Takes records that go together, or none of them.
        ///
        /// - Returns: whether there was room.
        private mutating func take(_ records: [CKRecord], _ filling: inout Filling) -> Bool {
            let isFirst = itemCount == 0
            guard itemCount + records.count <= SyncEngineLimits.batchItemsMax else { return false }
            if isFirst, records.count == 1 {
                // A record that is too large even alone is sent all the same: the server will say so.
                filling.uncounted = records[0]
            } else {
                filling.byteCount += filling.uncounted?.batchByteCount ?? 0
                for record in records { filling.byteCount += record.batchByteCount }
                filling.uncounted = nil
                if !isFirst, filling.byteCount > SyncEngineLimits.batchBytesMax { return false }
            }
            recordsToSave += records
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

    /// Why the batch is not even sent: too many changes, or two changes of one record.
    var refusal: CKError.Code? {
        if itemCount > SyncEngineLimits.batchItemsMax { return .limitExceeded }
        return Set(recordIDs).count < itemCount ? .invalidArguments : nil
    }

    /// A copy with its own records.
    func copied() -> Self {
        var copy = self
        copy.recordsToSave = recordsToSave.map { $0.copied() }
        return copy
    }
}

extension CKRecord {
    /// All assets take the same number of bytes in a record, whatever their files hold. Nobody has read the files yet.
    private static let anyAsset = FieldAsset(
        sha256: [UInt8](repeating: 0, count: FieldAsset.sha256ByteCount), byteCount: .max)

    /// The approximate bytes that encryption adds to a value: a key's name, a nonce, a tag, and another head.
    private static let sealBytes = 96

    /// The approximate bytes for sending this record's changes. Sending will find those that cannot be sent; here they
    /// count little.
    fileprivate var batchByteCount: Int {
        let assets = sentAssets(all: false).map { (ObjectIdentifier($0), Self.anyAsset) }
        let changes = try? changes(all: false, assets: Dictionary(assets) { first, _ in first })
        let fieldByteCount = changes?.fields.byteCount ?? 0
        let sealedCount = changes?.fields.count { $0.isEncrypted } ?? 0
        let nameByteCount = recordID.recordName.utf8.count + recordID.zoneID.zoneName.utf8.count
        return fieldByteCount + sealedCount * Self.sealBytes + nameByteCount + 64
    }
}
