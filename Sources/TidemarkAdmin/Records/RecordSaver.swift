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
    }

    private let service: CloudService
    private let console: Console
    private let zone: ZoneKey
    private let user: UserID
    private let replaces: Bool
    private let limits = Limits.standard
    private(set) var tally = Tally()
    private var saves: [RecordSave] = []
    private var deletes: [String] = []
    private var names: Set<String> = []
    /// Records whose parents come later in the input.
    private var orphans: [RecordSave] = []
    private var byteCount = 0
    private var counter: UInt64 = 0
    private let life: DeviceID

    /// Bytes of fields in one batch: fewer than a request may have.
    private static let batchBytesMax = 1_048_576
    /// With more records whose parents are missing, the later ones are refused.
    private static let orphansMax = 20_000

    /// - Parameters:
    ///   - user: becomes the creator of new records.
    ///   - replaces: whether existing records get the new fields.
    init(_ console: Console, _ service: CloudService, zone: ZoneKey, user: UserID, replaces: Bool) {
        self.console = console
        self.service = service
        self.zone = zone
        self.user = user
        self.replaces = replaces
        life = DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits())
    }

    /// - Parameter ownName: for the user's own record: its name here.
    func save(_ line: RecordLine, asUser ownName: String? = nil) async throws {
        let fields: FieldMap
        do {
            fields = try line.fieldMap()
        } catch {
            return fail(line.recordName, error.text)
        }
        let name = ownName ?? line.recordName
        try await add(
            RecordSave(
                name: name, type: line.recordType, tag: nil, fields: fields,
                parent: line.parent.map { .set($0) } ?? .unchanged, isOwnUser: ownName != nil))
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
        try await flush()
        // Each round saves those whose parents the round before has saved.
        while !orphans.isEmpty {
            let (again, count) = (orphans, orphans.count)
            orphans = []
            for save in again { try await add(save) }
            try await flush()
            guard orphans.count < count else {
                for save in orphans { fail(save.name, FailureReason.parentMissing.text) }
                break
            }
        }
        guard tally.savedCount + tally.deletedCount > 0 else { return }
        // It is a hint: the servers' sweep makes up for a lost one.
        try? await console.storage.post([
            .zone(ZoneNotice(database: zone.database, life: .nobody, zoneName: zone.name))
        ])
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
        counter += 1
        let request = RecordsRequest(
            id: RequestID(device: life, counter: counter, lowestUnanswered: counter), key: zone, saves: saves,
            deletes: deletes, policy: replaces ? .allKeys : .ifServerRecordUnchanged, isAtomic: false, user: user,
            access: .owner(user))
        let outcomes = await service.modifyRecords([request], for: .nobody)
        guard case .success(let outcome)? = outcomes.first else {
            if case .failure(let reason)? = outcomes.first { throw AdminFailure(reason) }
            return
        }
        for (save, result) in zip(saves, outcome.saves) { note(save, result) }
        for (name, result) in zip(deletes, outcome.deletes) { note(name, result) }
        (saves, deletes, names, byteCount) = ([], [], [], 0)
    }

    private func note(_ save: RecordSave, _ result: SaveOutcome) {
        switch result {
        case .saved: tally.savedCount += 1
        case .failed(let failure) where failure.reason == .recordExists && !replaces: tally.skippedCount += 1
        case .failed(let failure) where failure.reason == .parentMissing && orphans.count < Self.orphansMax:
            orphans.append(save)
        case .failed(let failure): fail(save.name, failure.detail ?? failure.reason.text)
        }
    }

    private func note(_ name: String, _ result: DeleteOutcome) {
        switch result {
        case .deleted: tally.deletedCount += 1
        case .failed(let failure): fail(name, failure.detail ?? failure.reason.text)
        }
    }

    func fail(_ name: String, _ text: String) {
        tally.failedCount += 1
        console.say("\(name): \(text)")
    }
}
