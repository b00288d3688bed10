// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Repairs state that was valid when a call began and has lapsed before its end. A machine may sleep for days between
/// two requests of one call. That is no item's fault. Each kind is repaired once, and the items are sent again.
extension CloudDatabase {
    /// Something that the server no longer has.
    enum Lapse: Hashable {
        /// The key with which a value was encrypted, because another device created the zone again.
        case zoneKey
        /// An uploaded asset that no record named for the server's grace time.
        case asset

        /// - Parameter error: of a save that the server has answered.
        init?(_ error: CKError) {
            if error.isZoneKeyUnknown {
                self = .zoneKey
            } else if error.code == .assetNotAvailable {
                self = .asset
            } else {
                return nil
            }
        }
    }

    /// - Returns: what could not be repaired, and why.
    func sendAgain(
        _ saves: [Save], _ deletes: [CKRecord.ID], _ manner: Manner, into results: inout RecordResults
    ) async -> [CKRecord.ID: CKError] {
        var refused: [CKRecord.ID: CKError] = [:]
        var mended: Set<Lapse> = []
        while true {
            var lapses: [CKRecord.ID: Lapse] = [:]
            for save in saves where refused[save.copy.recordID] == nil {
                guard case .failure(let error) = results.saves[save.copy.recordID] else { continue }
                lapses[save.copy.recordID] = Lapse(error).flatMap { mended.contains($0) ? nil : $0 }
            }
            guard !lapses.isEmpty else { return refused }
            mended.formUnion(lapses.values)
            let zones = Set(lapses.keys.map(\.zoneID).filter(manner.isAtomic))
            // Items that were refused together are sent together. Otherwise those that are left would be saved without
            // the rest.
            var again = saves.filter { lapses[$0.copy.recordID] != nil || zones.contains($0.copy.recordID.zoneID) }
            var deletesAgain = deletes.filter { zones.contains($0.zoneID) }
            do throws(CKError) {
                let failures = try await mend(&again, lapses, mended, manner)
                refused.merge(failures) { $1 }
                deletesAgain = results.leaveOut(failures, of: &again, deletesAgain, manner)
                try await send(again, deletesAgain, manner, into: &results)
            } catch {
                for save in again { results.saves[save.copy.recordID] = .failure(error) }
                for id in deletesAgain { results.deletes[id] = .failure(error) }
            }
        }
    }

    /// - Returns: saves that stay refused for their own faults; `saves` is without them.
    private func mend(
        _ saves: inout [Save], _ lapses: [CKRecord.ID: Lapse], _ mended: Set<Lapse>, _ manner: Manner
    ) async throws(CKError) -> [CKRecord.ID: CKError] {
        var failures: [CKRecord.ID: CKError] = [:]
        if mended.contains(.asset) {
            // The file may have been changed or removed meanwhile, even if only the keys have lapsed this time.
            (saves, failures) = try await prepare(saves.map { (original: $0.original, copy: $0.copy) }, manner)
        }
        keys.forgetNewest(of: Set(lapses.filter { $0.value == .zoneKey }.map(\.key.zoneID)))
        for (save, error) in try await seal(&saves) { failures[save.copy.recordID] = error }
        saves.removeAll { failures[$0.copy.recordID] != nil }
        return failures
    }
}

extension CloudDatabase.RecordResults {
    /// Records the saves that are not sent, and removes those that are refused with them.
    ///
    /// - Parameter refused: saves that are not sent because of their own faults; not among `saves`.
    /// - Returns: the remaining deletes.
    mutating func leaveOut(
        _ refused: [CKRecord.ID: CKError], of saves: inout [CloudDatabase.Save], _ deletes: [CKRecord.ID],
        _ manner: CloudDatabase.Manner
    ) -> [CKRecord.ID] {
        for (id, error) in refused { self.saves[id] = .failure(error) }
        let zones = Set(refused.keys.map(\.zoneID).filter(manner.isAtomic))
        guard !zones.isEmpty else { return deletes }
        let failure = CKError(
            .batchRequestFailed,
            message: "Atomic failure. Another item of this zone's batch failed. Correct that one, and send all of them "
                + "again.")
        for save in saves where zones.contains(save.copy.recordID.zoneID) {
            // The server's own error for the item says more.
            if case .failure(let error) = self.saves[save.copy.recordID], CloudDatabase.Lapse(error) == nil { continue }
            self.saves[save.copy.recordID] = .failure(failure)
        }
        for id in deletes where zones.contains(id.zoneID) { self.deletes[id] = .failure(failure) }
        saves.removeAll { zones.contains($0.copy.recordID.zoneID) }
        return deletes.filter { !zones.contains($0.zoneID) }
    }
}
