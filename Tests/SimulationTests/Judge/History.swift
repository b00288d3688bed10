// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields
import TidemarkTestKit

/// What really happened: every commit as the database saw it, in order. The judge compares with it what clients are told.
struct History {
    /// One version of a record, or its tombstone (no text).
    struct Version: Equatable {
        let number: ChangeNumber
        let batchEnd: ChangeNumber
        let text: String?
    }

    /// One incarnation of a zone.
    struct Zone {
        let id: ZoneID
        let name: String
        let createdAt: Int
        var endedAt: Int?
        /// The newest version of each record.
        var records: [String: Version] = [:]
        /// Every version there was, by its number.
        var versions: [ChangeNumber: (name: String, version: Version)] = [:]

        func wasDeleted(_ name: String, since number: ChangeNumber) -> Bool {
            versions.contains { $0.key > number && $0.value.name == name && $0.value.version.text == nil }
        }
    }

    /// What a device wanted with a save, found by the text that no other save has.
    struct Intent {
        let request: RequestKey
        let name: String
        let policy: SavePolicy
        /// The version whose tag the save carried, and the life of the store in which it was seen.
        let base: ChangeNumber?
        let baseStore: StoreIncarnation?
        /// How many saves the request's atomic batch has; nil if it is not atomic.
        let batchCount: Int?
    }

    /// A request as nobody but the judge names it.
    struct RequestKey: Hashable {
        let device: Int
        let number: Int
    }

    /// Who writes, and so what the judge can expect of each version.
    enum Clients {
        /// Every save is announced here before it is sent; its text is its own.
        case planning
        /// Each version is the union of the one before and something new; see `History+Unions.swift`.
        case uniting
    }

    /// What goes back with the store.
    struct Backup {
        fileprivate let zones: [ZoneID: Zone]
        fileprivate let written: [String: Set<ZoneID>]
    }

    private let clients: Clients
    /// The life of the store that goes on.
    private(set) var store = StoreIncarnation(1)
    private(set) var zones: [ZoneID: Zone] = [:]
    /// Commits so far: the time of this history.
    private(set) var length = 0
    private(set) var violations: [String] = []
    private var intents: [String: Intent] = [:]
    /// Names that each request is to delete, and the incarnation in which it was decided as far as its device knows. What a
    /// zone remembers of requests ends with it: a copy that lay in a frozen server may be carried out in the next.
    private var deletions: [RequestKey: (names: [String], decidedIn: ZoneID?)] = [:]
    /// In which incarnations each text was written.
    private var written: [String: Set<ZoneID>] = [:]
    /// Every text that a record ever had, also in earlier lives of the store: by zone, record and text.
    private var texts: Set<[String]> = []

    /// Of clients that unite: the names in each zone that each atomic batch saves.
    var unitedBatches: [String: [String: Set<String>]] = [:]
    /// Of clients that unite: what several devices may save for the first time.
    var copiedDrafts: Set<String> = []

    init(of clients: Clients) {
        self.clients = clients
    }

    /// Whether a record ever held this text.
    func hasHad(_ text: String, named name: String, in zoneName: String) -> Bool {
        texts.contains([zoneName, name, text])
    }

    /// What an operator keeps.
    var backup: Backup { Backup(zones: zones, written: written) }

    /// The store is what it was then, and lives another life.
    mutating func goBack(to backup: Backup, in store: StoreIncarnation) {
        (zones, written, self.store) = (backup.zones, backup.written, store)
        length += 1
    }

    mutating func plan(_ text: String, _ intent: Intent) {
        intents[text] = intent
    }

    mutating func planDeletion(of names: [String], _ request: RequestKey) {
        deletions[request] = (names, nil)
    }

    mutating func settleDeletion(_ request: RequestKey, in zone: ZoneID?) {
        deletions[request]?.decidedIn = zone
    }

    mutating func accuse(_ violation: String) {
        violations.append(violation)
    }

    func livingZone(_ name: String) -> Zone? {
        zones.values.first { $0.name == name && $0.endedAt == nil }
    }

    func wasWritten(_ text: String) -> Bool {
        written[text] != nil
    }

    func wasWritten(_ text: String, in zone: ZoneID) -> Bool {
        written[text]?.contains(zone) ?? false
    }

    mutating func record(_ commit: MemoryCommit) {
        length += 1
        switch commit {
        case .zoneCreated(let zone):
            zones[zone.id] = Zone(id: zone.id, name: zone.key.name, createdAt: length)
        case .zoneEnded(let zone):
            zones[zone.id]?.endedAt = length
        case .records(let changes):
            var savesOfRequests: [RequestKey: Int] = [:]
            for record in changes.records { write(record, in: changes.zone, &savesOfRequests) }
            switch clients {
            case .planning: checkBatches(changes, savesOfRequests)
            case .uniting: checkUnitedBatches(changes)
            }
        }
    }

    private mutating func write(
        _ record: RecordState, in zone: ZoneID, _ savesOfRequests: inout [RequestKey: Int]
    ) {
        let text = record.isDeleted ? nil : record.text
        let previous = zones[zone]?.records[record.name]
        if clients == .uniting { checkUnion(record, previous, in: zone) }
        let version = Version(number: record.changeNumber, batchEnd: record.batchEnd, text: text)
        zones[zone]?.records[record.name] = version
        zones[zone]?.versions[record.changeNumber] = (record.name, version)
        if let text, let zoneName = zones[zone]?.name { texts.insert([zoneName, record.name, text]) }
        guard let text, clients == .planning else { return }
        guard let intent = intents[text] else { return accuse("I-1: nobody saved what was written: \(text)") }
        savesOfRequests[intent.request, default: 0] += 1
        if !written[text, default: []].insert(zone).inserted { accuse("I-1: doubled: \(text)") }
        checkBase(intent, previous, text, in: zone)
    }

    /// under the careful policy nobody overwrites what they have not seen. A version that came into being
    /// and was replaced within one group never reaches the store, so only what is older counts.
    private mutating func checkBase(_ intent: Intent, _ previous: Version?, _ text: String, in zone: ZoneID) {
        guard intent.policy == .ifServerRecordUnchanged else { return }
        let current = previous.flatMap { $0.text == nil ? nil : $0.number }
        if current != nil, let baseStore = intent.baseStore, baseStore != store {
            accuse("R-220: \(text) over what another life of the store had")
        }
        if let base = intent.base, let current, base < current { accuse("R-094: \(text) lost update of \(current)") }
        // A request of the same group may have deleted the record before: only the end state reaches the store.
        let mayBeDeleted = deletions.values.contains { $0.names.contains(intent.name) && $0.decidedIn != zone }
        if intent.base == nil, current != nil, !mayBeDeleted { accuse("R-092: \(text) over a record that exists") }
    }

    /// I-3: an atomic batch is in one commit, but for versions that a later request of the same group replaced.
    private mutating func checkBatches(_ changes: ZoneChanges, _ savesOfRequests: [RequestKey: Int]) {
        for (request, count) in savesOfRequests.sorted(by: { $0.key.number < $1.key.number }) {
            let batch = changes.records.compactMap(\.text).compactMap { intents[$0] }.first { $0.request == request }
            guard let wanted = batch?.batchCount, count < wanted else { continue }
            // Were the missing ones replaced in this very commit? Then their records have a higher number in it.
            let names = Set(intents.values.filter { $0.request == request }.map(\.name))
            let missing = names.subtracting(changes.records.compactMap { $0.isOf(request, intents) ? $0.name : nil })
            if !missing.isSubset(of: Set(changes.records.map(\.name))) {
                accuse("I-3: a part of an atomic batch was committed: \(request.number)")
            }
        }
    }
}

extension RecordState {
    /// The field of simulated records.
    var text: String? {
        guard case .string(let text)? = try? fields["text"]?.value() else { return nil }
        return text
    }

    fileprivate func isOf(_ request: History.RequestKey, _ intents: [String: History.Intent]) -> Bool {
        text.flatMap { intents[$0] }?.request == request
    }
}
