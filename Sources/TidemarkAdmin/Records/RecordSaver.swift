// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Saves and deletes records of one zone in batches, as an operator: rules, feeds and pushes hold, grants do not.
final class RecordSaver {
    /// What became of the records.
    struct Tally: Sendable, Equatable {
        var savedCount = 0
        /// Records that existed already and were not replaced.
        var skippedCount = 0
        var deletedCount = 0
        var failedCount = 0
        /// Encrypted values whose keys the zone does not have, and those that existing records lack.
        var unreadableCount = 0
        var shareCount = 0

        static func += (sum: inout Tally, more: Tally) {
            sum.savedCount += more.savedCount
            sum.skippedCount += more.skippedCount
            sum.deletedCount += more.deletedCount
            sum.failedCount += more.failedCount
            sum.unreadableCount += more.unreadableCount
            sum.shareCount += more.shareCount
        }

        /// Whether devices have something to fetch.
        var hasChanges: Bool { savedCount + deletedCount + shareCount > 0 }
    }

    private let service: CloudService
    private let console: Console
    private let zone: ZoneKey
    private let user: UserID
    private let replaces: Bool
    let isDryRun: Bool
    private let limits = Limits.standard
    private(set) var tally = Tally()
    private var saves: [RecordSave] = []
    private var deletes: [String] = []
    private var names: Set<String> = []
    /// Records whose parents come later in the input.
    private var orphans: LateParents
    /// Whether one had no room.
    private var isCrowded = false
    private var byteCount = 0
    private var counter: UInt64 = 0
    private let life: DeviceID
    /// Where records under way stand in the input, for messages.
    private var places: [String: String] = [:]
    /// The ids of the zone's keys; nil until a record needs one.
    private var zoneKeys: Set<[UInt8]>?

    /// Bytes of fields in one batch: fewer than a request may have.
    private static let batchBytesMax = 1_048_576

    /// - Parameters:
    ///   - user: becomes the creator of new records.
    ///   - replaces: whether existing records get the new fields.
    ///   - isDryRun: whether records are only looked at.
    ///   - orphans: the room for records whose parents come later.
    init(
        _ console: Console, _ service: CloudService, zone: ZoneKey, user: UserID, replaces: Bool,
        isDryRun: Bool = false, orphans: LateParents = LateParents()
    ) {
        self.orphans = orphans
        self.isDryRun = isDryRun
        self.console = console
        self.service = service
        self.zone = zone
        self.user = user
        self.replaces = replaces
        life = DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits())
    }

    /// - Parameters:
    ///   - ownName: for the user's own record (R-058): its name here. Its encrypted values must be bound to that name.
    ///   - place: in the input, for messages.
    func save(_ line: RecordLine, asUser ownName: String? = nil, at place: String? = nil) async throws {
        guard !Share.isType(line.recordType) else {
            return fail(place ?? line.recordName, "A share comes back with accounts export and accounts import alone.")
        }
        var keys: Set<[UInt8]> = []
        if line.encryptedCount > 0 { keys = try await readZoneKeys() }
        let name = ownName ?? line.recordName
        let fields: FieldMap
        do {
            fields = try line.fieldMap(zoneKeys: keys)
        } catch {
            return fail(place ?? name, error.text)
        }
        tally.unreadableCount += line.unreadableCount(with: keys)
        try await add(
            RecordSave(
                name: name, type: line.recordType, tag: nil, fields: fields,
                parent: line.parent.map { .set($0) } ?? .unchanged, isOwnUser: ownName != nil))
        places[name] = place
    }

    /// Saves a CKShare record, unless the zone is shared already (R-912). That of a hierarchy is saved with its root (R-301),
    /// which must have been saved before.
    func save(_ line: RecordLine, sharing share: ShareSave) async throws {
        let keys = line.encryptedCount > 0 ? try await readZoneKeys() : []
        let fields: FieldMap
        do {
            fields = try line.fieldMap(zoneKeys: keys)
        } catch {
            return fail(line.recordName, error.text)
        }
        tally.unreadableCount += line.unreadableCount(with: keys)
        let save = RecordSave(
            name: line.recordName, type: line.recordType, tag: nil, fields: fields, parent: .unchanged, share: share)
        guard let root = share.rootName else { return try await add(save) }
        // The root may still wait for its parent.
        try await saveAll()
        let stored = try await console.store.records(named: [root], in: zone).first
        guard let stored, !stored.isDeleted else {
            return fail(save.name, "The root of its hierarchy, \(root), is not there.")
        }
        let sameRoot = RecordSave(name: root, type: stored.type, tag: nil, fields: FieldMap(), parent: .unchanged)
        // In this policy the root needs no tag. A share is compared in each.
        let outcome = try await send([save, sameRoot], policy: .changedKeys)
        if let result = outcome.saves.first { note(save, result) }
    }

    private func readZoneKeys() async throws -> Set<[UInt8]> {
        if let zoneKeys { return zoneKeys }
        let read = try await console.storage.zoneKeys(of: [zone], keysMax: limits.zoneKeysMax, sharing: .nothing)
        let keys = Set((read.first?.keys ?? []).map(\.id))
        zoneKeys = keys
        return keys
    }

    private func add(_ save: RecordSave) async throws {
        try await makeRoom(for: save.name, byteCount: save.fields.byteCount)
        saves.append(save)
    }

    func delete(_ name: String) async throws {
        try await makeRoom(for: name, byteCount: 0)
        deletes.append(name)
    }

    /// Sends what is left, and tells the devices.
    func finish() async throws {
        try await saveAll()
        await tell()
    }

    private func saveAll() async throws {
        try await flush()
        // Each round saves those whose parents the round before has saved.
        while !orphans.children.isEmpty {
            let again = orphans.take()
            for save in again { try await add(save) }
            try await flush()
            guard orphans.children.count < again.count else {
                for save in orphans.take() { fail(save.name, FailureReason.parentMissing.text) }
                break
            }
        }
    }

    /// Tells the devices. It is a hint: the servers' sweep makes up for a lost one.
    private func tell() async {
        guard tally.hasChanges, !isDryRun else { return }
        let notice = ZoneNotice(
            database: zone.database, life: .nobody, zoneName: zone.name, changesShares: tally.shareCount > 0)
        try? await console.storage.post([.zone(notice)])
    }

    /// One request may name a record only once.
    private func makeRoom(for name: String, byteCount more: Int) async throws {
        if names.contains(name) || names.count == limits.itemsMax || byteCount + more > Self.batchBytesMax {
            try await flush()
        }
        names.insert(name)
        byteCount += more
    }

    private func flush() async throws {
        guard !names.isEmpty else { return }
        if isDryRun {
            tally.savedCount += saves.count
            tally.deletedCount += deletes.count
            (saves, deletes, names, byteCount, places) = ([], [], [], 0, [:])
            return
        }
        let outcome = try await send(saves, deletes, policy: replaces ? .allKeys : .ifServerRecordUnchanged)
        for (save, result) in zip(saves, outcome.saves) { note(save, result) }
        for (name, result) in zip(deletes, outcome.deletes) { note(name, result) }
        (saves, deletes, names, byteCount) = ([], [], [], 0)
        guard isCrowded else { return }
        await tell()
        throw AdminFailure(.refused, "\(orphans.full) So far: \(tally.text)")
    }

    private func send(
        _ saves: [RecordSave], _ deletes: [String] = [], policy: SavePolicy
    ) async throws -> RecordsOutcome {
        counter += 1
        let request = RecordsRequest(
            id: RequestID(device: life, counter: counter, lowestUnanswered: counter), key: zone, saves: saves,
            deletes: deletes, policy: policy, isAtomic: false, user: user, access: .owner(user))
        guard let answer = await service.modifyRecords([request], for: .nobody).first else {
            throw AdminFailure(.serverFault)
        }
        return try answer.mapError { AdminFailure($0) }.get()
    }

    private func note(_ save: RecordSave, _ result: SaveOutcome) {
        switch result {
        case .saved where save.share != nil: tally.shareCount += 1
        case .saved: tally.savedCount += 1
        // A share is never saved over another one.
        case .failed(let failure) where failure.reason == .recordExists && (!replaces || save.share != nil):
            tally.skippedCount += 1
            // A run without the keys saved it without them.
            tally.unreadableCount += failure.serverRecord.map { save.encryptedCount(lackedBy: $0) } ?? 0
        case .failed(let failure) where failure.reason == .parentMissing:
            // Its place stays: it may fail later.
            if !orphans.add(save) { isCrowded = true }
            return
        case .failed(let failure): fail(save.name, failure.detail ?? failure.reason.text)
        }
        places[save.name] = nil
    }

    private func note(_ name: String, _ result: DeleteOutcome) {
        switch result {
        case .deleted: tally.deletedCount += 1
        case .failed(let failure): fail(name, failure.detail ?? failure.reason.text)
        }
    }

    func fail(_ name: String, _ text: String) {
        tally.failedCount += 1
        console.say("\(places[name].map { "\($0): " } ?? "")\(name): \(text)")
    }
}

extension RecordSave {
    /// How many encrypted values are in it whose fields a stored record does not have.
    fileprivate func encryptedCount(lackedBy record: RecordState) -> Int {
        fields.count { $0.isEncrypted && record.fields[$0.key] == nil }
    }
}
