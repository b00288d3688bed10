// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The result of a fetch of records by name.
package struct RecordsLookup: Sendable {
    package let zone: ZoneState
    /// In the order of the names. Cut where the stored bytes pass `Limits.answerBytesMax`, but never empty for that
    /// reason. The client asks for the rest.
    package let records: [Result<RecordState, FailureReason>]
    /// The shares of the zone, if CKShare records are among these: with all people of those shares.
    package let sharing: ZoneSharing?

    package init(
        zone: ZoneState, records: [Result<RecordState, FailureReason>], sharing: ZoneSharing? = nil
    ) {
        self.zone = zone
        self.records = records
        self.sharing = sharing
    }

    /// The users who created or last changed the records, except the caller.
    package func users(besides caller: UserID?) -> Set<UserID> {
        var users: Set<UserID> = []
        for case .success(let record) in records {
            users.insert(record.createdBy, record.modifiedBy, besides: caller)
        }
        return users
    }
}

extension CloudService {
    /// Fetches records by name. The failure is `recordUnknown` for each that does not exist or was deleted. It
    /// is `zoneNotFound` or a similar failure for a missing zone, and `tooManyItems` over the limit of R-155. Records
    /// that `access` may not read do not exist (I-5).
    package func records(
        named names: [String], in key: ZoneKey, by access: RecordAccess
    ) async -> Result<RecordsLookup, FailureReason> {
        guard names.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        guard ZoneName.isValid(key.name, limits: limits) else { return .failure(.zoneNameInvalid) }
        var seen: Set<String> = []
        let stored = names.filter { RecordName.canBeStored($0, limits: limits) && seen.insert($0).inserted }
        // the public database has no shares.
        let wantsShare = access.scope != .public && stored.contains(Share.zoneWideName)
        // I-5: a caller without access must not make the server read a share and all its participants. Nor may the caller learn from the
        // time of that read whether the zone is living.
        if wantsShare, case .failure(let reason) = await self.access(to: key, by: access) { return .failure(reason) }
        return await retry.run { () async throws(StorageError) in
            var sharing = SharingRead(for: access)
            if wantsShare, let user = access.user { sharing = sharing.and(.shown(to: user, of: .zoneWide)) }
            var snapshot = try await storage.records(
                named: stored, in: key, bytesMax: limits.answerBytesMax, sharing: sharing)
            if snapshot.zone == nil, wantsShare, access.scope == .private {
                let removals = try await storage.removals(ofZones: [key.name], in: key.database)
                return .failure(.missingZone(removals[key.name]))
            }
            if let reason = snapshot.refusal(for: access) { return .failure(reason) }
            guard let zone = snapshot.zone else { return .failure(.zoneNotFound) }
            var shown = wantsShare ? snapshot.sharing : nil
            if zone.hasHierarchies, access.scope != .public {
                shown = try await sharesOfHierarchies(in: &snapshot, among: names, shown, for: access)
            }
            return .success(
                RecordsLookup(
                    zone: zone, records: snapshot.lookUp(names, by: access, within: limits), sharing: shown))
        }
    }

    /// In a zone with shared hierarchies, roots name their shares, and CKShare records come with their shares. Data that is read after the
    /// records can only be newer: then the records have newer versions in the feed.
    ///
    /// - Parameter names: as they were asked for. No more shares are read than an answer has.
    /// - Returns: the shares to be shown; nil: no CKShare record was found.
    private func sharesOfHierarchies(
        in snapshot: inout ZoneSnapshot, among names: [String], _ shown: ZoneSharing?, for access: RecordAccess
    ) async throws(StorageError) -> ZoneSharing? {
        guard let user = access.user else { return shown }
        let shareNames = names.filter { name in
            snapshot.records[name].map {
                !$0.isDeleted && Share.isType($0.type) && access.mayShow($0, in: snapshot)
            } ?? false
        }.prefix(max(1, limits.sharesTogetherMax))
        var shown = shown
        if !shareNames.isEmpty {
            let choice = ShareChoice(names: Set(shareNames)).union(.zoneWide)
            shown = try await storage.sharings(of: [snapshot.key], .shown(to: user, of: choice)).first?.sharing
        }
        let sharing: ZoneSharing?
        if let known = shown ?? snapshot.sharing {
            sharing = known
        } else {
            sharing = try await storage.sharings(of: [snapshot.key], .access(of: [user])).first?.sharing
        }
        for record in sharing?.namingRoots(Array(snapshot.records.values)) ?? [] {
            snapshot.records[record.name] = record
        }
        return shown
    }
}

extension ShareChoice {
    /// The share of the whole zone.
    fileprivate static let zoneWide = ShareChoice(names: [Share.zoneWideName])
}

extension RecordAccess {
    /// Whether a record that was found is shown: in the shared database, the shares that were read with it decide.
    fileprivate func mayShow(_ record: RecordState, in snapshot: ZoneSnapshot) -> Bool {
        sharing(snapshot.sharing)?.mayRead(record) ?? false
    }
}
