// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport

/// The apps of the articles that only ask a database. What their users wrote is there, on each device, once a write has
/// succeeded; one that fails, or whose process ends, is made again. They keep nothing on the device, so a copied device is just
/// another one, and nothing can be pending. They have no change tokens: these expire all the same.
@Suite struct RequestAppFaultTests {
    private enum Fault: CaseIterable { case offline, lostAnswer, cut, serverRestart, switchOfAccounts, death, expiry }

    /// An app, as far as its user writes and reads.
    private struct App: Sendable {
        let write: @Sendable (_ text: String, _ name: String) async throws -> Void
        let read: @Sendable (_ name: String) async throws -> String?
    }

    private struct Seat {
        var device: TestDevice
        var account: String
    }

    private func run(_ makeApp: @escaping @Sendable (CKContainer) -> App) async {
        await ArticleHistories.run(count: 2) { try await live(seed: $0, makeApp) }
    }

    private func live(seed: UInt64, _ makeApp: @escaping @Sendable (CKContainer) -> App) async throws {
        var random = SeededRandom(seed: seed)
        let cloud = TestCloud()
        let watch = CommitWatch(cloud) { $0.name }
        var seats = ["phone", "laptop"].map { Seat(device: cloud.account("alice").device($0), account: "alice") }
        var written: [String: [String: String]] = [:]
        for step in 0..<24 {
            let place = random.below(seats.count)
            let (name, text) = ("n\(step)", "text \(step)")
            // While all is well, one ends for certain in the middle of its request.
            let fault = step == 0 ? .death : Fault.allCases[random.below(Fault.allCases.count)]
            NotesTrace.say("\(seats[place].device.name) of \(seats[place].account) writes \(name): \(fault)")
            switch fault {
            case .offline: seats[place].device.goOffline()
            case .lostAnswer: seats[place].device.loseNextAnswer()
            case .cut: seats[place].device.cutConnections()
            case .serverRestart: cloud.restartServer()
            case .expiry: cloud.expireTokens()
            case .switchOfAccounts:
                seats[place].account = random.oneIn(2) ? "alice" : "bob"
                seats[place].device.signIn(cloud.account(seats[place].account))
            case .death:
                let app = makeApp(seats[place].device.container)
                try await die(on: seats[place].device, watch, cloud, name) { try await app.write(text, name) }
                #expect(step > 0 || watch.stored.contains(name), "seed \(seed)")
                seats[place].device = cloud.account(seats[place].account).device("device \(step)")
            }
            try await write(
                text, as: name, makeApp(seats[place].device.container), on: seats[place].device, cloud, watch)
            written[seats[place].account, default: [:]][name] = text
        }
        for (account, texts) in written {
            let app = makeApp(cloud.account(account).device("judge").container)
            for (name, text) in texts {
                let found = try await cloud.passingTime { try await app.read(name) }
                #expect(found == text, "seed \(seed): \(name) of \(account)")
            }
        }
    }

    /// The process ends when the server has carried out its request: nothing comes to it any more.
    private func die(
        on device: TestDevice, _ watch: CommitWatch, _ cloud: TestCloud, _ name: String,
        _ write: @escaping @Sendable () async throws -> Void
    ) async throws {
        watch.whenStored(name) { device.goOffline() }
        defer { watch.forgetDeed() }
        do {
            try await cloud.passingTime(write)
            Issue.record("The process has heard of its save of \(name).")
        } catch is CKError {}
    }

    private func write(
        _ text: String, as name: String, _ app: App, on device: TestDevice, _ cloud: TestCloud, _ watch: CommitWatch
    ) async throws {
        try await cloud.insisting(afterFailure: { device.goOnline() }) {
            do {
                try await app.write(text, name)
            } catch CKError.serverRecordChanged where watch.stored.contains(name) {
                // An earlier attempt was carried out.
            }
        }
    }

    @Test func `R-067, R-157: no page of the app of the article on encrypted values is lost`() async {
        await run { container in
            let diary = Diary(container: container)
            return App(write: { try await diary.write($0, on: $1) }, read: { try await diary.text(on: $0) })
        }
    }

    @Test func `R-157, R-187: no place of the app of the article on queries is lost`() async {
        await run { container in
            let airports = AirportList(database: container.privateCloudDatabase)
            return App(
                write: { text, name in
                    let place = CLLocation(latitude: 64.13, longitude: -21.94)
                    try await airports.add(name, text, elevation: 14, at: place, tags: [])
                },
                read: { name in
                    try await airports.find(NSPredicate(value: true)).first { $0.recordID.recordName == name }?["name"]
                })
        }
    }

    @Test func `R-070, R-157: no file of the app of the article on files is lost`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let files = URL(fileURLWithPath: directory.path)
        await run { container in
            let photos = Photos(database: container.privateCloudDatabase)
            return App(
                write: { text, name in
                    let file = files.appendingPathComponent(name)
                    try Data(text.utf8).write(to: file)
                    try await photos.add(file, named: name, caption: text)
                },
                read: { name in
                    let copy = files.appendingPathComponent("copy of \(name)")
                    try await photos.fetch(name, to: copy)
                    return String(decoding: try Data(contentsOf: copy), as: UTF8.self)
                })
        }
    }
}
