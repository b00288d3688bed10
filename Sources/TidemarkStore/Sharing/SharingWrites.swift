// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// What a group of zones writes of their shares. Most write nothing.
struct SharingWrites {
    private let zones: [ZoneChanges]

    init(_ zones: [ZoneChanges]) {
        self.zones = zones
    }

    var calls: [Call<Void>] {
        zones.flatMap { zone in
            zone.sharing.flatMap { Self.calls(for: $0, in: SharingWrite(zone, $0)) } + Self.hierarchyCalls(for: zone)
        }
    }

    private static func hierarchyCalls(for zone: ZoneChanges) -> [Call<Void>] {
        var calls: [Call<Void>] = []
        if let hasHierarchies = zone.hasHierarchies {
            calls.append(sql.hierarchies.markZone((zone.database, zone.zone, hasHierarchies)))
        }
        if !zone.shareRecords.isEmpty {
            calls.append(
                sql.hierarchies.write(
                    ShareRecordsWrite(database: zone.database, zone: zone.zone, rows: zone.shareRecords)))
            let names = zone.recordsWithNewRows
            if !names.isEmpty {
                let records = CoverQuery(
                    database: zone.database, zone: zone.zone, names: names, rowsMax: ShareRecord.rowsMax)
                calls.append(sql.hierarchies.forgetOldest(records))
            }
        }
        return calls
    }

    /// As many as a request may write, which makes a share (`Limits.shareSubtreeMax`). So they seldom become more, however often
    /// hierarchies are shared and end. If they do, each record keeps a few of them (``ShareRecord/rowsMax``).
    private static let endedRowsMax = 20_000

    /// Forgotten rows go first, and new rows come last: a user has one row in a share.
    private static func calls(for changes: SharingChanges, in zone: SharingWrite) -> [Call<Void>] {
        var calls: [Call<Void>] = []
        if !changes.forgottenShares.isEmpty {
            calls.append(sql.sharing.forgetShares((zone.database, zone.zone, changes.forgottenShares)))
        }
        if !changes.endedHierarchies.isEmpty {
            let ended = EndedHierarchies(
                database: zone.database, zone: zone.zone, shares: changes.endedHierarchies, rowsMax: endedRowsMax)
            calls.append(sql.hierarchies.forgetEnded(ended))
        }
        if !changes.forgotten.isEmpty { calls.append(sql.sharing.forgetParticipants((zone, changes.forgotten))) }
        for rows in [changes.updated + changes.ended, changes.inserted] where !rows.isEmpty {
            var write = zone
            write.participants = rows
            calls.append(sql.sharing.writeParticipants(write))
        }
        if !changes.droppedRequests.isEmpty {
            calls.append(sql.sharing.dropRequests((zone, changes.droppedRequests)))
        }
        let requests = changes.updatedRequests + changes.insertedRequests
        if !requests.isEmpty {
            var write = zone
            write.requests = requests
            calls.append(sql.sharing.writeRequests(write))
        }
        if let share = changes.insertedShare ?? changes.updatedShare {
            calls.append(sql.sharing.writeShare((zone, share)))
        }
        if let secret = changes.insertedSecret {
            let root = (changes.insertedShare ?? changes.updatedShare)?.rootName ?? ""
            calls.append(sql.sharing.writeSecret((zone, root, secret)))
        }
        return calls
    }
}

extension SharingWrite {
    fileprivate init(_ zone: ZoneChanges, _ changes: SharingChanges) {
        self.init(database: zone.database, zone: zone.zone, share: changes.share)
    }
}
