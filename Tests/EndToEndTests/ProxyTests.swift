// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTLS
import TidemarkTestSupport

/// Clients behind the proxies of `deploy/`, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ProxyTests {
    @Test(.enabled(if: FrontProxy.Kind.haproxy.path != nil, "haproxy is not installed"))
    func `R-944: behind HAProxy, which passes TLS through, a server knows its clients, and a reload loses nothing`()
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
            try await proxy.stop()
        }
    }

    @Test(.enabled(if: FrontProxy.Kind.nginx.path != nil, "nginx is not installed"))
    func `R-945: behind nginx, which ends TLS, a server knows its clients, and a reload loses nothing`() async throws {
        try await OperatorPlace.with(["--create-containers", "--proxy-from", FrontProxy.address]) { place in
            let files = try DevelopmentCertificates(
                directory: place.directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
            let proxy = try await FrontProxy.start(
                .nginx, before: place.site.port, certificate: (files.certificateFile, files.privateKeyFile),
                in: place.directory)
            try await work(through: proxy, place, authorityFile: files.authorityFile)
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
        let database = site.makeContainer().privateCloudDatabase
        var (names, token, hasMore) = (Set<String>(), CKServerChangeToken?.none, true)
        while hasMore {
            let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            (token, hasMore) = (page.changeToken, page.moreComing)
        }
        #expect(names.count == deviceCount * saveCount)

        let audit = try await place.admin("audit", "list", "--kind", "sign-ins", "-o", "json")
        #expect(audit.status == 0 && audit.output.contains("\"address\":\"127.0.0.1\""), "\(audit.output)")
        #expect(!audit.output.contains(FrontProxy.address), "\(audit.output)")
    }
}
