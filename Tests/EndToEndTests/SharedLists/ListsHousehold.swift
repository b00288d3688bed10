// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@testable import sharedlists

/// alice with three devices and bob with two. On each runs `sharedlists`, with a file of its own.
struct ListsHousehold {
    static let accounts = ["alice", "alice", "alice", "bob", "bob"]

    let devices: [ClientDevice]
    let site: Site

    /// Runs `body` with devices that are started, and ends them in order.
    static func with(automatically: Bool = false, _ body: (ListsHousehold) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let site = try await DevServer.shared()
        let devices = try accounts.indices.map { try ClientDevice(.lists, "\($0)", site, directory) }
        let household = ListsHousehold(devices: devices, site: site)
        for index in devices.indices { try household.start(index, automatically: automatically) }
        try await body(household)
        for device in devices { try await device.quit() }
    }

    subscript(index: Int) -> ClientDevice { devices[index] }

    func start(_ index: Int, automatically: Bool = false, isOnline: Bool = true) throws {
        try devices[index].start(
            account: Self.accounts[index], automatically: automatically, isOnline: isOnline)
    }

    /// Syncs one after the other, twice: then each has what all have sent.
    func settle() async throws {
        for _ in 1...2 {
            for device in devices { try await device.sync() }
        }
    }

    /// The name by which others invite somebody.
    func userName(_ account: String) async throws -> String {
        try await site.makeContainer(account).userRecordID().recordName
    }

    // MARK: What there is

    /// What the file of a device has, and whether the server is to be told of none of it.
    func file(_ index: Int) throws -> (lines: [String], isSettled: Bool) {
        let store = try ListStore(directory: URL(fileURLWithPath: devices[index].dataDirectory, isDirectory: true))
        let entries = store.entries
        let account = Self.accounts[index]
        let lists = entries.filter { $0.kind == .list }
        let lines = entries.filter { !$0.isDeleted }.map { entry in
            ListsModel.line(
                owner: entry.isMine ? account : Self.other(account),
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
            let owner = database.databaseScope == .private ? account : Self.other(account)
            for zone in try await database.allRecordZones() where zone.zoneID.zoneName == "Lists" {
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

    private static func other(_ account: String) -> String { account == "alice" ? "bob" : "alice" }

    /// Each file has what the server shows its account, which is what is expected.
    func expect(
        _ expected: [String: [String]], _ what: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        for account in Set(Self.accounts) {
            let served = try await served(account)
            #expect(served == expected[account], "\(what): \(account)", sourceLocation: location)
        }
        for (index, account) in Self.accounts.enumerated() {
            let file = try file(index)
            #expect(file.lines == expected[account], "\(what): device \(index)", sourceLocation: location)
            #expect(file.isSettled, "\(what): device \(index) has something to send", sourceLocation: location)
        }
    }
}
