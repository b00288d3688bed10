// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit

/// A user's devices with the articles' app on them, and all that goes wrong. Each choice comes from a seed.
///
/// The judge holds the app to every edit, but for what is of nobody's making: where zones end, what the server had in them when they
/// did. After a key reset that comes back from devices that have it, unless their users sign out before they hear of it.
final class NotesWorld {
    enum Fault: CaseIterable {
        case offline, lostAnswer, cut, serverRestart, death, clone, expiry, forgottenDeletions, restore
        case signOut, switchOfAccounts
        case zoneReset, zoneEnd
    }

    /// A device, and the process of the app on it.
    final class Seat {
        let device: TestDevice
        let file: URL
        var process: MortalProcess?
        /// Nil: nobody is signed in.
        var account: TestAccount?

        init(_ device: TestDevice, _ file: URL, _ account: TestAccount?) {
            (self.device, self.file, self.account) = (device, file, account)
        }
    }

    let seed: UInt64
    private let cloud = TestCloud()
    private let directory: TestDirectory
    private let faults: [Fault]
    private var random: SeededRandom
    private var seats: [Seat] = []
    private var trace: [String] = []
    private var tagCount = 0
    private var backup: TestCloud.Backup?
    /// Tags that the user gave to notes which nobody deletes, by account; "": by whoever signs in next.
    private var tags: [String: Set<String>] = [:]
    private let commits = StoredTags()

    private static let noteNames = ["shopping", "trip"]
    private static let accountNames = ["alice", "bob"]

    init(seed: UInt64, faults: [Fault]) throws {
        self.seed = seed
        self.faults = faults
        random = SeededRandom(seed: seed)
        directory = try TestDirectory()
        cloud.observe { [commits] in commits.note($0) }
    }

    deinit { directory.remove() }

    private func oneOf<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }

    private func note(_ text: String) {
        trace.append(text)
        NotesTrace.say(text)
    }

    // MARK: Processes

    private func addSeat(_ account: TestAccount, copying other: Seat? = nil) throws {
        let name = "device\(seats.count)"
        let file = URL(fileURLWithPath: directory.path).appendingPathComponent(name)
        if let other { try? FileManager.default.copyItem(at: other.file, to: file) }
        seats.append(Seat(account.device(name), file, account))
    }

    /// The app on that device, started if it does not run.
    private func notes(on seat: Seat) async throws -> Notes {
        if let process = seat.process, await !process.isDead { return process.notes }
        note("\(seat.device.name) starts")
        let notes = try Notes(file: seat.file)
        let process = MortalProcess(notes, on: seat.device.name)
        seat.process = process
        await notes.start(in: seat.device.container.privateCloudDatabase, through: process)
        return notes
    }

    // MARK: A history

    func run(stepCount: Int) async throws {
        for _ in 0..<2 {
            try addSeat(cloud.account("alice"))
            _ = try await notes(on: seats[seats.count - 1])
        }
        // The user is in every backup.
        try await cloud.settle()
        for _ in 0..<stepCount {
            let seat = oneOf(seats)
            if random.oneIn(2) { try await edit(seat) } else { try await suffer(oneOf(faults), seat) }
            if random.oneIn(2) { try await cloud.settle() }
            if random.oneIn(8) { try await cloud.clock.advance(by: .seconds(random.below(60))) }
        }
        do {
            try await calmDown()
            try await judge()
        } catch {
            for seat in seats { note("\(seat.device.name): \(await seat.process?.notes.summary ?? "dead")") }
            Issue.record("seed \(seed): \(error)\n\(trace.joined(separator: "\n"))")
        }
    }

    private func edit(_ seat: Seat) async throws {
        let notes = try await notes(on: seat)
        tagCount += 1
        let tag = "t\(tagCount)"
        switch random.below(6) {
        case 0: try await notes.write("text \(tagCount)", to: oneOf(Self.noteNames))
        case 1: try await notes.write("text \(tagCount)", to: "draft\(random.below(3))")
        case 2: try await notes.delete("draft\(random.below(3))")
        default:
            let name = oneOf(Self.noteNames)
            let owner = await notes.tagForOwner(name, tag)
            tags[owner ?? "", default: []].insert(tag)
            note("\(seat.device.name) tags \(name) of \(owner ?? "nobody") \(tag)")
            return
        }
        note("\(seat.device.name) edits \(tagCount)")
    }

    private func suffer(_ fault: Fault, _ seat: Seat) async throws {
        note("\(seat.device.name): \(fault)")
        switch fault {
        case .offline: if seat.device.isOnline { seat.device.goOffline() } else { seat.device.goOnline() }
        case .lostAnswer: seat.device.loseNextAnswer()
        case .cut: seat.device.cutConnections()
        case .serverRestart: cloud.restartServer()
        case .death:
            if random.oneIn(3) {
                seat.process = nil
            } else {
                await seat.process?.die(in: random.below(6), before: random.oneIn(2))
            }
        case .clone:
            guard seats.count < 4, let account = seat.account else { return }
            try addSeat(account, copying: seat)
        case .expiry: cloud.expireTokens()
        case .forgottenDeletions: cloud.forgetDeletions()
        case .restore: try await restore()
        case .signOut: signIn(seat.account == nil ? cloud.account("alice") : nil, on: seat)
        case .switchOfAccounts: signIn(cloud.account(oneOf(Self.accountNames)), on: seat)
        case .zoneReset: try? cloud.account("alice").resetEncryptedData(in: CKRecordZone.ID(zoneName: "Notes"))
        case .zoneEnd: try await endZone()
        }
    }

    /// Goes back to the backup that was made last, or makes one.
    private func restore() async throws {
        try await cloud.settle()
        if let backup, random.oneIn(2) {
            cloud.restore(backup)
            note("restored")
        } else {
            backup = cloud.backUp()
        }
    }

    private func endZone() async throws {
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        if random.oneIn(2) {
            try? cloud.account("alice").purge(zoneID)
        } else {
            _ = try? await cloud.account("alice").database.deleteRecordZone(withID: zoneID)
        }
    }

    private func signIn(_ account: TestAccount?, on seat: Seat) {
        note("\(seat.device.name) is \(account?.name ?? "nobody")'s")
        seat.account = account
        if let account { seat.device.signIn(account) } else { seat.device.signOut() }
    }

    // MARK: The end

    /// All that goes wrong ends, and each account is signed in everywhere for a while: what was set aside is sent.
    private func calmDown() async throws {
        note("calm")
        for seat in seats {
            seat.device.goOnline()
            await seat.process?.live()
            _ = try await notes(on: seat)
        }
        for name in Self.accountNames + Self.accountNames.reversed() {
            for seat in seats where seat.account?.name != name { signIn(cloud.account(name), on: seat) }
            try await settleAll()
        }
    }

    private func settleAll() async throws {
        try await cloud.run(within: .seconds(7_200)) {
            var contents: Set<[String: [String]]> = []
            for seat in seats {
                let notes = try await notes(on: seat)
                guard await notes.isSettled else { return false }
                contents.insert(await notes.contents)
            }
            return contents.count == 1
        }
    }

    private func judge() async throws {
        let name = "alice"
        let notes = try await notes(on: seats[0])
        let here = await notes.contents
        let comment = Comment(rawValue: "seed \(seed)\n" + trace.joined(separator: "\n"))
        for seat in seats { #expect(try await self.notes(on: seat).contents == here, comment) }
        let stored = try await storedTags(of: name)
        let all = try await storedTags(of: "bob").union(stored)
        #expect(Set(here.values.joined()).filter { $0.hasPrefix("t") && !$0.hasPrefix("text") } == stored, comment)
        let gone = forgivesEndsOfZones ? commits.gone : []
        for owner in Self.accountNames {
            let userName = try await cloud.account(owner).device("judge").container.userRecordID().recordName
            let missing = try await (tags[userName] ?? []).subtracting(storedTags(of: owner)).subtracting(gone)
            #expect(missing == [], "lost by \(owner): \(missing)\n\(comment)")
        }
        #expect((tags[""] ?? []).subtracting(all).subtracting(gone) == [], comment)
    }

    private var forgivesEndsOfZones: Bool { faults.contains(.zoneEnd) || faults.contains(.signOut) }

    private func storedTags(of account: String) async throws -> Set<String> {
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let database = cloud.account(account).database
        var tags: Set<String> = []
        do {
            var page = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
            while true {
                for result in page.modificationResultsByID.values {
                    tags.formUnion(try result.get().record["tags"] as [String]? ?? [])
                }
                guard page.moreComing else { return tags }
                page = try await database.recordZoneChanges(inZoneWith: zoneID, since: page.changeToken)
            }
        } catch CKError.zoneNotFound, CKError.userDeletedZone {
            return []
        }
    }
}

extension Notes {
    func start(in database: CKDatabase, through delegate: any CKSyncEngineDelegate, automatically: Bool = true) {
        var configuration = CKSyncEngine.Configuration(
            database: database, stateSerialization: library.replica.engineState, delegate: delegate)
        configuration.automaticallySync = automatically
        let engine = CKSyncEngine(configuration)
        library.replica.begin(engine)
        self.engine = engine
    }

    /// - Returns: whose the note is.
    fileprivate func tagForOwner(_ name: String, _ tag: String) -> String? {
        do { try self.tag(name, tag) } catch { Issue.record(error) }
        return library.replica.read { $0.owner }
    }

    fileprivate var contents: [String: [String]] {
        library.notes.mapValues { [$0.text] + $0.tags.sorted() }
    }

    fileprivate var summary: String {
        let pending = engine?.state.pendingRecordZoneChanges.map(\.description) ?? []
        let unsent = library.replica.unsentIDs.map(\.recordName)
        return "\(contents), pending \(pending), unsent \(unsent), problems \(problems)"
    }

    fileprivate var isSettled: Bool {
        library.replica.unsentIDs.isEmpty && engine?.state.pendingRecordZoneChanges.isEmpty == true
            && engine?.state.pendingDatabaseChanges.isEmpty == true
    }
}

/// A process of the app: it ends at any event, before the app has handled it or after.
actor MortalProcess: TidemarkSyncEngineDelegate {
    let notes: Notes
    private let device: String
    private(set) var isDead = false
    private var callsLeft: Int?
    private var diesBefore = false

    init(_ notes: Notes, on device: String) { (self.notes, self.device) = (notes, device) }

    func die(in callCount: Int, before: Bool) { (callsLeft, diesBefore) = (callCount, before) }

    func live() { callsLeft = nil }

    /// Whether the process ends in this callback.
    private func ends() -> Bool {
        guard let left = callsLeft else { return false }
        callsLeft = left - 1
        return left <= 0
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard !isDead else { return }
        let ends = ends()
        if ends && diesBefore { isDead = true }
        if !isDead { await notes.handleEvent(event, syncEngine: syncEngine) }
        await NotesTrace.say(event, on: device) { await notes.summary }
        if ends { isDead = true }
    }

    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        guard !isDead else { return }
        let ends = ends()
        if ends && diesBefore { isDead = true }
        if !isDead { await notes.handleStoreEvent(event, syncEngine: syncEngine) }
        if ends { isDead = true }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        guard !isDead else { return nil }
        let ends = ends()
        if ends && diesBefore { isDead = true }
        guard !isDead else { return nil }
        let batch = await notes.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
        // What is sent then is answered to nobody.
        if ends { isDead = true }
        return batch
    }
}
