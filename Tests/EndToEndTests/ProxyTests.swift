// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTLS
import TidemarkTestSupport

/// Clients behind the proxies of `deploy/`, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ProxyTests {
    @Test(.enabled(if: FrontProxy.Kind.haproxy.path != nil, "haproxy is not installed"))
    func
        `R-944: behind HAProxy, which passes TLS through, a server knows its clients, and neither a reload nor slow and cut lines lose anything`()
        async throws
    {
        let flags = [
            "--create-containers", "--proxy-from", FrontProxy.address, "--admin-listen", "127.0.0.1:0",
        ]
        try await OperatorPlace.with(flags, isEncrypted: true) { place in
            let match = place.server.output.firstMatch(of: /answering operators address=127\.0\.0\.1:(\d+)/)
            let checks = try #require(match.flatMap { Int($0.1) })
            let proxy = try await FrontProxy.start(
                .haproxy, before: place.site.port, checks: checks, in: place.directory)
            try await work(through: proxy, place, authorityFile: place.site.authorityFile)
            // The server ends them: the proxy only passes on what they say.
            try await endure(through: proxy, place, authorityFile: place.site.authorityFile, endsSilent: true)
            try await proxy.stop()
        }
    }

    @Test(.enabled(if: FrontProxy.Kind.nginx.path != nil, "nginx is not installed"))
    func
        `R-945: behind nginx, which ends TLS, a server knows its clients, and neither a reload nor slow and cut lines lose anything`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers", "--proxy-from", FrontProxy.address]) { place in
            let files = try DevelopmentCertificates(
                directory: place.directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
            let proxy = try await FrontProxy.start(
                .nginx, before: place.site.port, certificate: (files.certificateFile, files.privateKeyFile),
                in: place.directory)
            try await work(through: proxy, place, authorityFile: files.authorityFile)
            // The proxy ends them, after its own time: a minute.
            try await endure(through: proxy, place, authorityFile: files.authorityFile, endsSilent: false)
            try await proxy.stop()
        }
    }

    /// Devices save while the proxy is reloaded. Then all is there once, and the audit has their address.
    private func work(through proxy: FrontProxy, _ place: OperatorPlace, authorityFile: String) async throws {
        var site = Site(
            url: "wss://127.0.0.1:\(proxy.port)", authorityFile: authorityFile, tokens: place.site.tokens)
        site.container = place.site.container
        let zone = CKRecordZone(zoneName: "Notes")
        try await site.makeContainer().privateCloudDatabase.save(zone)
        let (deviceCount, saveCount) = (3, 40)
        try await withThrowingTaskGroup(of: Void.self) { [site] group in
            for device in 0..<deviceCount {
                group.addTask {
                    let database = site.makeContainer().privateCloudDatabase
                    for number in 0..<saveCount {
                        let id = CKRecord.ID(recordName: "n\(device)-\(number)", zoneID: zone.zoneID)
                        try await database.save(CKRecord(recordType: "Note", recordID: id))
                        // In the middle, and while the others save.
                        if device == 0, number == saveCount / 2 { try await proxy.reload() }
                    }
                }
            }
            try await group.waitForAll()
        }
        // New connections come through the new processes.
        #expect(try await names(in: zone.zoneID, site.makeContainer()).count == deviceCount * saveCount)

        let audit = try await place.admin("audit", "list", "--kind", "sign-ins", "-o", "json")
        #expect(audit.status == 0 && audit.output.contains("\"address\":\"127.0.0.1\""), "\(audit.output)")
        #expect(!audit.output.contains(FrontProxy.address), "\(audit.output)")
    }

    /// Devices write on lines that are slow and break, while others begin a handshake and say nothing more.
    private func endure(
        through proxy: FrontProxy, _ place: OperatorPlace, authorityFile: String, endsSilent: Bool
    ) async throws {
        let zoneID = CKRecordZone.ID(zoneName: "Rough")
        try await RoughLine.with(to: proxy.port) { (line: RoughLine) async throws in
            var site = Site(
                url: "wss://127.0.0.1:\(line.port)", authorityFile: authorityFile, tokens: place.site.tokens)
            site.container = place.site.container
            // The head of a TLS record, of which nothing comes.
            try await line.openSilent(40, saying: [0x16, 0x03, 0x01, 0x02, 0x00])
            let devices = [Device(site.makeContainer()), Device(site.makeContainer())]
            var expected = ["begin": "begin"]
            func all(_ what: String, _ condition: (Device) -> Bool) async throws {
                do {
                    try await eventually(what, within: .seconds(120)) { devices.allSatisfy(condition) }
                } catch {
                    let stories = devices.map(\.story).joined(separator: "\n")
                    throw NeverHappened(description: "\(error)\n\(stories)\n\(proxy.program.output)")
                }
            }
            devices[0].makeZone(zoneID)
            devices[0].write("begin", to: "begin", in: zoneID)
            try await all("all have begun") { $0.texts == expected }
            await line.cut(times: 9)
            var number = 0
            while await line.cutsLeft > 0 || number < 10 {
                try #require(number < 400, "the line is not cut")
                for (index, device) in devices.enumerated() {
                    let name = "n\(index)-\(number)"
                    expected[name] = "\(number)"
                    device.write("\(number)", to: name, in: zoneID)
                }
                try await all("what was written is sent") {
                    $0.engine?.state.pendingRecordZoneChanges.isEmpty == true
                }
                number += 1
            }
            try await all("each device has everything") { $0.texts == expected }
            #expect(try await names(in: zoneID, site.makeContainer()) == Set(expected.keys))
            if endsSilent {
                try await eventually("those that say nothing are ended", within: .seconds(90)) {
                    await line.silentCount == 0
                }
            }
            for device in devices { device.quit() }
        }
    }

    /// What a device gets that had nothing.
    private func names(in zoneID: CKRecordZone.ID, _ container: CKContainer) async throws -> Set<String> {
        let database = container.privateCloudDatabase
        var (names, token, hasMore) = (Set<String>(), CKServerChangeToken?.none, true)
        while hasMore {
            let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            (token, hasMore) = (page.changeToken, page.moreComing)
        }
        return names
    }
}
