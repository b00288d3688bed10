// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport

/// An app that drives an engine itself. Each edit of its user is a number, in a new record.
protocol EngineApp: Actor {
    static var zoneID: CKRecordZone.ID { get }
    /// Whether what it has is its user's: others' edits arrive, and all goes with the account. Otherwise it is the device's, and
    /// what is unsent goes to whoever signs in next.
    static var isOfUser: Bool { get }
    static func number(of record: CKRecord) -> Int?
    static func number(of record: RecordState) -> Int?
    /// With the files in that directory, if there are any.
    static func make(in directory: URL) throws -> Self
    func start(in database: CKDatabase) throws
    func edit(_ number: Int) throws
    var numbers: Set<Int> { get }
    /// The record name of the user whose they are; nil if they are the device's.
    var user: String? { get }
    var engine: CKSyncEngine? { get }
}

/// Devices with such an app on them, and all that goes wrong. Each choice comes from a seed.
final class EngineAppWorld<App: EngineApp> {
    enum Fault: CaseIterable {
        case offline, lostAnswer, cut, serverRestart, switchOfAccounts, death, clone, expiry, forgottenDeletions
    }

    /// A device, and the process of the app on it.
    private final class Seat {
        let device: TestDevice
        var account: String
        /// Of the files that the process has.
        var directory: URL
        var app: App
        /// What was written here, or on the device of which this is a copy.
        var written: Set<Int>

        init(_ device: TestDevice, _ account: String, in directory: URL, written: Set<Int>) async throws {
            (self.device, self.account, self.directory, self.written) = (device, account, directory, written)
            app = try App.make(in: directory)
            try await app.start(in: device.container.privateCloudDatabase)
        }
    }

    private static var accountNames: [String] { ["alice", "bob"] }
    private static var seatCountMax: Int { 3 }

    private let seed: UInt64
    private let cloud = TestCloud()
    private let files: TestDirectory
    private let watch: CommitWatch
    private var random: SeededRandom
    private var seats: [Seat] = []
    private var placeCount = 0
    private var userNames: [String: String] = [:]
    private var trace: [String] = []
    /// How many processes ended when the server had carried out their request, and they had not heard of it.
    private var deathCount = 0

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        files = try TestDirectory()
        watch = CommitWatch(cloud) { App.number(of: $0).map(String.init) }
    }

    deinit { files.remove() }

    private func note(_ text: String) {
        trace.append(text)
        NotesTrace.say(text)
    }

    // MARK: Files

    private func newPlace() throws -> URL {
        placeCount += 1
        let place = URL(fileURLWithPath: files.path).appendingPathComponent("\(placeCount)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return place
    }

    /// Copies the engine's state first. So the other files have at least what it knows.
    private static func copyFiles(_ place: URL, to other: URL) {
        for name in ["state.json", "pending.journal", "notes.json", "readings.json"] {
            guard let data = try? Data(contentsOf: place.appendingPathComponent(name)) else { continue }
            do { try data.write(to: other.appendingPathComponent(name)) } catch { Issue.record(error) }
        }
    }

    // MARK: A history

    func run(editCount: Int) async throws {
        for name in Self.accountNames {
            userNames[name] = try await cloud.account(name).device("asks").container.userRecordID().recordName
        }
        let device = cloud.account("alice").device("device0")
        seats = [try await Seat(device, "alice", in: newPlace(), written: [])]
        try await cloud.settle()
        do {
            for number in 0..<editCount {
                // While all is well, one ends for certain in the middle of its request.
                try await live(number, with: number == 0 ? .death : oneOf(Fault.allCases))
                if random.oneIn(2) { try await cloud.settle() }
                if random.oneIn(4) { try await cloud.clock.advance(by: .seconds(random.below(90))) }
            }
            try await calmDown(editCount)
        } catch {
            Issue.record("seed \(seed): \(error)\n\(trace.joined(separator: "\n"))")
        }
    }

    private func oneOf<Element>(_ elements: [Element]) -> Element { elements[random.below(elements.count)] }

    /// An edit, and what goes wrong then.
    private func live(_ number: Int, with fault: Fault) async throws {
        let seat = oneOf(seats)
        note("\(seat.device.name) writes \(number): \(fault)")
        if fault == .death { return try await die(seat, writing: number) }
        try await edit(number, seat)
        switch fault {
        case .offline: if seat.device.isOnline { seat.device.goOffline() } else { seat.device.goOnline() }
        case .lostAnswer: seat.device.loseNextAnswer()
        case .cut: seat.device.cutConnections()
        case .serverRestart: cloud.restartServer()
        case .switchOfAccounts: try await signIn(oneOf(Self.accountNames), on: seat)
        case .clone: try await clone(seat)
        case .expiry: cloud.expireTokens()
        case .forgottenDeletions: try await forgetDeletion(number)
        case .death: break
        }
    }

    private func edit(_ number: Int, _ seat: Seat) async throws {
        seat.written.insert(number)
        try await seat.app.edit(number)
    }

    /// The next process has the files of the moment at which the edit was stored, if it is stored at once.
    private func die(_ seat: Seat, writing number: Int) async throws {
        let (place, next) = (seat.directory, try newPlace())
        watch.whenStored("\(number)") { Self.copyFiles(place, to: next) }
        try await edit(number, seat)
        try await cloud.settle()
        if watch.forgetDeed() { Self.copyFiles(place, to: next) } else { deathCount += 1 }
        seat.directory = next
        seat.app = try App.make(in: next)
        try await seat.app.start(in: seat.device.container.privateCloudDatabase)
    }

    private func clone(_ seat: Seat) async throws {
        guard seats.count < Self.seatCountMax else { return }
        let place = try newPlace()
        Self.copyFiles(seat.directory, to: place)
        let device = cloud.account(seat.account).device("device\(seats.count)")
        seats.append(try await Seat(device, seat.account, in: place, written: seat.written))
    }

    /// What an app does not keep when the account changes is sent before. So is what its user writes before the app hears of it.
    private func signIn(_ name: String, on seat: Seat) async throws {
        note("\(seat.device.name) is \(name)'s")
        if App.isOfUser {
            seat.device.goOnline()
            try await awaitStored(seat.written)
        }
        seat.account = name
        seat.device.signIn(cloud.account(name))
        guard App.isOfUser else { return }
        let user = userNames[name]
        try await cloud.run(within: .seconds(7_200)) { await seat.app.user == user }
    }

    /// Somebody deletes what never was one of the numbers, and devices that are away do not hear of it.
    private func forgetDeletion(_ number: Int) async throws {
        let database = cloud.account("alice").database
        let id = CKRecord.ID(recordName: "scrap \(number)", zoneID: App.zoneID)
        _ = try await cloud.insisting {
            try await database.modifyRecords(
                saving: [CKRecord(recordType: "Scrap", recordID: id)], deleting: [], savePolicy: .allKeys)
        }
        _ = try await cloud.insisting { try await database.deleteRecord(withID: id) }
        cloud.forgetDeletions()
    }

    // MARK: The end

    private func calmDown(_ editCount: Int) async throws {
        note("calm")
        for seat in seats { seat.device.goOnline() }
        let all = Set(0..<editCount)
        try await awaitStored(all)
        for seat in seats where seat.account != "alice" { try await signIn("alice", on: seat) }
        try await cloud.run(within: .seconds(7_200)) {
            for seat in seats { guard await isSettled(seat) else { return false } }
            return true
        }
        let alices = try await stored(by: "alice")
        let comment = Comment(rawValue: "seed \(seed)\n" + trace.joined(separator: "\n"))
        #expect(try await alices.union(stored(by: "bob")) == all, comment)
        for seat in seats {
            let here = await seat.app.numbers
            #expect(App.isOfUser ? here == alices : here == seat.written, comment)
        }
        #expect(deathCount > 0, comment)
    }

    private func awaitStored(_ numbers: Set<Int>) async throws {
        let keys = Set(numbers.map(String.init))
        do {
            try await cloud.run(within: .seconds(7_200)) { keys.isSubset(of: watch.stored) }
        } catch {
            note("not on the server: \(keys.subtracting(watch.stored).sorted())")
            throw error
        }
    }

    /// Nothing is pending, and it has what its account has.
    private func isSettled(_ seat: Seat) async -> Bool {
        guard let state = await seat.app.engine?.state, state.pendingRecordZoneChanges.isEmpty,
            state.pendingDatabaseChanges.isEmpty
        else { return false }
        guard App.isOfUser else { return true }
        let first = await seats[0].app.numbers
        return await seat.app.numbers == first
    }

    private func stored(by account: String) async throws -> Set<Int> {
        do {
            let page = try await cloud.account(account).database.recordZoneChanges(inZoneWith: App.zoneID, since: nil)
            #expect(!page.moreComing)
            return Set(try page.modificationResultsByID.values.compactMap { App.number(of: try $0.get().record) })
        } catch CKError.zoneNotFound {
            return []
        }
    }
}
