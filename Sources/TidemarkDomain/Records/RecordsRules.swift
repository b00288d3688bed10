// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

// The order in which failures win, for a request that saves and deletes records. The first that applies is the answer.
//
// For the request as a whole, from the request alone (`RecordsRequest.refusal(within:)`):
//  1. requestInvalid    a stamp that no device can have made: counter 0, or one that it no longer waits for; a client's
//                       token that is too long
//  2. tooManyItems      R-155
//  3. requestTooLarge   R-155
//  4. itemRepeated      R-116
//  5. zoneNameInvalid   R-020
// then from what the zone remembers (`RequestMemory`): a remembered request gets its outcome again, or
//  6. requestForgotten  R-157: it is a repeat, and its outcome may have been forgotten
// For one save (`SaveRules`, then `RecordsPlan`):
//  7. zoneNotFound, zonePurged, zoneKeysReset    
//     In the shared database zoneNotFound comes before remembered outcomes, whatever the state of the zone: I-5, for a
//     user who takes no part in a share of it.
//  8. recordNameInvalid R-040, of the record or its new parent
//     notPermitted      R-058, the user record of another user
//  9. recordTypeInvalid R-041
//     shareInvalid      R-300: the name of a zone's CKShare record, or a share, and another type
// 10. fieldsInvalid     … R-062, or another fault that was found when the fields were read
// 11. typeUnknown, fieldUnknown, fieldTypeDiffers, fieldSpaceDiffers, schemaFull  , of the first
//     key that does not fit the schema
// For a CKShare the failures of `ShareRules` and recordTypeChanged stand in the place of 12 to 15.
// 12. notPermitted     : the record exists, and is not this user's to change. If the user may not read it
//                       either, 14 or 15 as for a record that does not exist, or notPermitted
// 13. recordTypeChanged R-108: whatever the policy and the tag
//     tooMuchAtOnce, tooMuchStored R-724: the record was not read
// 14. recordExists, recordChanged, recordMissing , R-095 (never two of them)
// 15. createNotPermitted R-008: the record would be new
// 16. recordTooLarge    R-082, of the record as it would be
//     referenceElsewhere R-076
//     tooManyTargets    R-731, of the record as it would be
// 17. assetMissing     , of the assets that the save itself names
//     zoneKeyUnknown    R-067, of the keys with which the save's own values are encrypted
// 18. tooManyReferences R-079, saves in order
// 19. quotaExceeded     R-011, saves in order, as if the request deleted nothing
//     publicShareFull   R-277, the same, if the database has room
// 20. parentMissing     R-080, on the end state of the request
//     shareInvalid      R-300: the new parent is a CKShare record
//     notPermitted      R-741: the new parent is not this user's to change
// 21. parentCycle       R-081, on the end state of the request
//     or, for all three, the reason why the request's save of the parent was refused
// For one delete: 7 and 8, then
// 22. notPermitted      R-139
// 23. cascadeTooLarge   Limits.cascadeReferencesMax, of references and of children
// 24. stillParent       R-136, of the record or one that goes with it, on the end state of the request
//     or the reason why the request's delete, or move, of the child was refused
// Last, for every item of an atomic request that has no failure of its own:
// 25. batchFailed       R-151

extension RecordsRequest {
    /// A fault of the request that does not depend on stored data; nil if there is none. Check it before anything is
    /// read: names that cannot exist must not reach the store.
    package func refusal(within limits: Limits) -> FailureReason? {
        Self.refusal(of: [self], within: limits)
    }

    /// The same for the parts of one client request, one part for each zone. The limits count over all parts together
    ///
    package static func refusal(of parts: [RecordsRequest], within limits: Limits) -> FailureReason? {
        if parts.contains(where: { !$0.id.isPlausible || $0.clientToken.count > limits.clientTokenBytesMax }) {
            return .requestInvalid
        }
        if parts.reduce(0, { $0 + $1.saves.count + $1.deletes.count }) > limits.itemsMax { return .tooManyItems }
        if parts.reduce(0, { $0 + $1.fieldsByteCount }) > limits.requestBytesMax { return .requestTooLarge }
        if parts.contains(where: \.namesRecordTwice)
            || parts.count > 1 && Set(parts.map(\.key)).count < parts.count
        {
            return .itemRepeated
        }
        if parts.contains(where: { !ZoneName.isValid($0.key.name, limits: limits) }) { return .zoneNameInvalid }
        return nil
    }

    /// The data that must be read to decide this request alone.
    package func read(within limits: Limits) -> ZoneRead {
        ZoneRead(of: [self], in: key, limits: limits)
    }
}

extension ZoneRead {
    /// The data that must be read to decide requests to one zone, each item once. It has the named records, new parents
    /// with their ancestors, and everything that deletions reach. Names that cannot
    /// exist are left out.
    package init(of requests: [RecordsRequest], in key: ZoneKey, limits: Limits) {
        var needs = ZoneNeeds(limits: limits)
        for request in requests {
            precondition(request.key == key)
            needs.take(request)
        }
        self.init(needs, in: key, limits: limits)
    }

    private init(_ needs: ZoneNeeds, in key: ZoneKey, limits: Limits) {
        let named = needs.names + needs.deletes + needs.parents
        self.init(
            key: key, recordNames: needs.existing(named, and: needs.userNames),
            parentNames: needs.existing(needs.deletes), newParentNames: needs.existing(needs.parents),
            holderNames: needs.existing(needs.holders), referenceTargets: needs.existing(needs.targets),
            lives: needs.lives.sortedOnce(),
            assets: needs.assets.isEmpty ? [] : needs.assets.sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) },
            needsZoneKeys: !needs.zoneKeyIDs.isEmpty, users: needs.users.sorted { $0.rawValue < $1.rawValue },
            referencesFollowedMax: limits.cascadeReferencesMax)
        fieldlessNames = needs.fieldlessNames
        sharing = needs.sharing
        storedBytesMax = limits.storedBytesMax
        namedZoneKeyIDs = needs.zoneKeyIDs
        hasRepeats = needs.hasRepeats
        if !needs.moves.isEmpty {
            moves = needs.moves.filter { RecordName.isValid($0.name, limits: limits) }
            belowMax = limits.shareSubtreeMax
        }
        sharesHierarchy = needs.sharesHierarchy
        assetClaimants = Array(needs.claimants)
    }
}

/// The needs of requests to one zone, collected request by request. A name may be there several times.
private struct ZoneNeeds {
    let limits: Limits
    var names: [String] = []
    var userNames: [String] = []
    var deletes: [String] = []
    var parents: [String] = []
    var holders: [String] = []
    var targets: [String] = []
    var lives: [DeviceID] = []
    var hasRepeats = false
    var assets: Set<FieldAsset> = []
    var claimants: Set<AssetClaimant> = []
    var users: Set<UserID> = []
    var sharing = SharingRead.nothing
    var zoneKeyIDs: Set<[UInt8]> = []
    var moves: [RecordMove] = []
    var sharesHierarchy = false

    init(limits: Limits) {
        self.limits = limits
    }

    mutating func take(_ request: RecordsRequest) {
        lives.append(request.memoryLife)
        hasRepeats = hasRepeats || request.id.isRepeated
        switch request.access.scope {
        case .private: break
        case .public: users.insert(request.user)
        case .shared: sharing = sharing.and(.access(of: [request.user]))
        }
        takeDeletes(of: request)
        for save in request.saves { take(save, of: request) }
    }

    private mutating func takeDeletes(of request: RecordsRequest) {
        let deletesShare = request.deletesShare
        // An end writes one row of the share, and a user who leaves has one row.
        if deletesShare { sharing = sharing.and(.access(of: [])) }
        guard deletesShare, request.access.scope == .shared else {
            deletes += request.deletes
            return
        }
        // that is not a deletion. The CKShare record gets a new version, with the same fields.
        names.append(Share.zoneWideName)
        deletes += request.deletes.filter { !Share.isZoneWide(named: $0) }
    }

    private mutating func take(_ save: RecordSave, of request: RecordsRequest) {
        if save.isOwnUser { userNames.append(save.name) } else { names.append(save.name) }
        if case .set(let parent) = save.parent { parents.append(parent) }
        // the public database has no shares.
        if save.isShare, request.access.scope != .public {
            sharing = sharing.and(.people(of: ShareChoice(names: [save.name]), and: []))
        }
        if request.access.scope != .public {
            if let move = RecordMove(save, in: request.access.scope) { moves.append(move) }
            if let root = save.share?.rootName {
                sharesHierarchy = true
                moves.append(RecordMove(root: root, shareName: save.name))
                names.append(root)
            }
        }
        if !save.assets.isEmpty { take(save.assets, of: request) }
        if !save.zoneKeyIDs.isEmpty { zoneKeyIDs.formUnion(save.zoneKeyIDs) }
        if save.fields.mayNameOthers { takeReferences(of: save) }
    }

    private mutating func take(_ named: [FieldAsset], of request: RecordsRequest) {
        assets.formUnion(named)
        guard request.access.scope != .private else { return }
        claimants.formUnion(named.map { AssetClaimant(asset: $0, user: request.user) })
    }

    private mutating func takeReferences(of save: RecordSave) {
        let held = save.fields.deleteSelfTargets
        // the save will be refused.
        if held.count > limits.targetsMax { return }
        if !held.isEmpty { holders.append(save.name) }
        targets += held
    }

    /// Records that are not saved.
    var fieldlessNames: Set<String> {
        if deletes.isEmpty, parents.isEmpty { return [] }
        return Set(deletes + parents).subtracting(names).subtracting(userNames)
    }

    /// Sorted, each once, without names that cannot exist.
    func existing(_ names: [String], and others: [String] = []) -> [String] {
        (names.filter { RecordName.isValid($0, limits: limits) } + others).sortedOnce()
    }
}

extension RecordsRequest {
    /// Whether it deletes the CKShare record of the zone, if there is one: the owner ends the share, a participant
    /// leaves.
    fileprivate var deletesShare: Bool {
        access.scope != .public && deletes.contains(where: Share.isZoneWide(named:))
    }
}

extension Array where Element: Comparable {
    /// Sorted, each element once.
    fileprivate consuming func sortedOnce() -> [Element] {
        guard count > 1 else { return self }
        var result = self
        result.sort()
        var end = 1
        for index in 1..<result.count where result[index] != result[end - 1] {
            result[end] = result[index]
            end += 1
        }
        result.removeSubrange(end...)
        return result
    }
}

extension ZoneSnapshot {
    /// Why nothing can be read or written here (R-029, R-105 … ); nil if the zone lives.
    package var refusal: FailureReason? {
        zone == nil ? .missingZone(lastRemoval) : nil
    }

    /// The same for this caller. A caller who takes no part in a zone of another owner sees neither the zone nor why it
    /// ended (I-5).
    package func refusal(for access: RecordAccess) -> FailureReason? {
        guard access.scope == .shared else { return refusal }
        return zone == nil || access.sharing(sharing) == nil ? .zoneNotFound : nil
    }
}

extension FailureReason {
    /// The failure for a zone that does not live. It depends on why the zone's last incarnation ended.
    package static func missingZone(_ lastRemoval: ZoneRemovalReason?) -> FailureReason {
        switch lastRemoval {
        case nil, .deleted: .zoneNotFound
        case .purged: .zonePurged
        case .encryptedDataReset: .zoneKeysReset
        }
    }
}
