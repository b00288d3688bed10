// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@testable import sharedlists

/// People with their devices. On each runs `sharedlists`, with a file of its own.
struct ListsHousehold {
    /// alice with three devices and bob with two.
    static let two = ["alice", "alice", "alice", "bob", "bob"]
    /// And carol with one.
    static let three = two + ["carol"]

    /// Whose each device is.
    let accounts: [String]
    let devices: [ClientDevice]
    let site: Site
    /// The names by which others invite people, and by which zones name their owners.
    let userNames: [String: String]

    /// Runs `body` with devices that are started, and ends them in order.
    static func with(
        _ accounts: [String] = Self.two, automatically: Bool = false, _ body: (ListsHousehold) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let site = try await DevServer.shared()
        var userNames: [String: String] = [:]
        for account in Set(accounts) {
            userNames[account] = try await site.makeContainer(account).userRecordID().recordName
        }
        let devices = try accounts.indices.map { try ClientDevice(.lists, "\($0)", site, directory) }
        let household = ListsHousehold(accounts: accounts, devices: devices, site: site, userNames: userNames)
        for index in devices.indices { try household.start(index, automatically: automatically) }
        try await body(household)
        for device in devices { try await device.quit() }
    }

    subscript(index: Int) -> ClientDevice { devices[index] }

    func start(_ index: Int, automatically: Bool = false, isOnline: Bool = true) throws {
        try devices[index].start(account: accounts[index], automatically: automatically, isOnline: isOnline)
    }

    /// Syncs one after the other, twice: then each has what all have sent.
    func settle() async throws {
        for _ in 1...2 {
            for device in devices { try await device.sync() }
        }
    }

    // MARK: What there is

    /// What the file of a device has, and whether the server is to be told of none of it.
    func file(_ index: Int) throws -> (lines: [String], isSettled: Bool) {
        let store = try ListStore(directory: URL(fileURLWithPath: devices[index].dataDirectory, isDirectory: true))
        let entries = store.entries
        let account = accounts[index]
        let lists = entries.filter { $0.kind == .list }
        let lines = entries.filter { !$0.isDeleted }.map { entry in
            ListsModel.line(
                owner: entry.isMine ? account : person(entry.id.zoneID.ownerName),
                list: entry.kind == .list
                    ? nil : entry.listID.flatMap { id in lists.first { $0.id == id } }?.fields.text ?? "?",
                text: entry.fields.text, isDone: entry.fields.isDone)
        }
        return (lines.sorted(), entries.allSatisfy { !$0.isDirty })
    }

    /// What the server shows somebody who has no device yet.
    func served(_ account: String) async throws -> [String] {
        let container = site.makeContainer(account)
        var lines: [String] = []
        for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
            for zone in try await database.allRecordZones() where zone.zoneID.zoneName == "Lists" {
                let owner = database.databaseScope == .private ? account : person(zone.zoneID.ownerName)
                let records = try await records(of: zone.zoneID, in: database)
                for record in records where record.recordType != CKRecord.SystemType.share {
                    let fields = ListEntry.Fields(record)
                    let list = records.first { $0.recordID == record.parent?.recordID }
                    lines.append(
                        ListsModel.line(
                            owner: owner, list: fields.list == nil ? nil : list?["text"] as? String ?? "?",
                            text: fields.text, isDone: fields.isDone))
                }
            }
        }
        return lines.sorted()
    }

    private func records(of zoneID: CKRecordZone.ID, in database: CKDatabase) async throws -> [CKRecord] {
        var records: [CKRecord] = []
        var token: CKServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            for result in page.modificationResultsByID.values { records.append(try result.get().record) }
            token = page.changeToken
            guard page.moreComing else { return records }
        }
    }

    private func person(_ userName: String) -> String {
        userNames.first { $0.value == userName }?.key ?? "somebody else"
    }

    /// Each file has what the server shows its account, which is what is expected.
    func expect(
        _ expected: [String: [String]], _ what: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for account in Set(accounts) {
            let served = try await served(account)
            #expect(served == expected[account], "\(what): \(account)", sourceLocation: location)
        }
        for (index, account) in accounts.enumerated() {
            let file = try file(index)
            #expect(file.lines == expected[account], "\(what): device \(index)", sourceLocation: location)
            #expect(file.isSettled, "\(what): device \(index) has something to send", sourceLocation: location)
        }
    }
}
