// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket

@testable import TidemarkKit

/// A server of a later version, which speaks with nobody of this one.
private final class LaterSession: MessageHandler {
    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {}
    func closed(_ connection: MessageConnection, _ reason: CloseReason) {}
}

/// What becomes of requests while there is no server.
@Suite struct RetryTests {
    private let networkCodes: [CKError.Code] = [.networkUnavailable, .networkFailure]

    private func configuration(_ quality: QualityOfService, resource: TimeInterval? = nil) -> CKOperation.Configuration
    {
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = quality
        if let resource { configuration.timeoutIntervalForResource = resource }
        return configuration
    }

    @Test func `R-014: who does not speak the server's version of the protocol is told so`() async throws {
        let site = try await DevServer.shared()
        let loop = try EventLoop(name: "later version")
        defer { loop.stop() }
        let server = try await TransportServer.start(
            on: [loop], .init(addresses: [.loopback(port: 0)], tls: nil)
        ) { _, _ in .webSocket(.init(subprotocols: ["tidemark.v2"], requiresSubprotocol: true), LaterSession()) }
        let later = Site(
            url: "ws://127.0.0.1:\(server.localAddresses[0].port)", authorityFile: "", tokens: site.tokens,
            container: site.container)
        let old = later.makeContainer()
        let error = try await failure { try await old.privateCloudDatabase.allRecordZones() }
        #expect(error.code == .incompatibleVersion && error.localizedDescription.contains("too old"))
        #expect(try await failure { try await old.accountStatus() }.code == .incompatibleVersion)
        #expect(try await site.makeContainer().privateCloudDatabase.allRecordZones().count == 1)
        await server.stop()
    }

    @Test func `R-397: urgent requests fail at once, others are tried again until the server is back or time is up`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let first = try await DevServer.start(in: directory)
        let database = first.site.makeContainer().privateCloudDatabase
        #expect(try await database.allRecordZones().count == 1)
        try await first.program.stop()

        let (zoneID, otherID) = (CKRecordZone.ID(zoneName: "Patient"), CKRecordZone.ID(zoneName: "Background"))
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)])
        operation.qualityOfService = .utility
        database.add(operation)
        let saving = Task {
            try await database.configuredWith(configuration: configuration(.background)) { configured in
                try await configured.save(CKRecordZone(zoneID: otherID))
            }
        }
        for quality in [QualityOfService.userInteractive, .userInitiated, .default] {
            let error = try await failure {
                try await database.configuredWith(configuration: configuration(quality)) { configured in
                    try await configured.allRecordZones()
                }
            }
            #expect(networkCodes.contains(error.code), "\(error)")
        }
        let start = ContinuousClock.now
        let error = try await failure {
            try await database.configuredWith(configuration: configuration(.utility, resource: 0.5)) { configured in
                try await configured.allRecordZones()
            }
        }
        #expect(networkCodes.contains(error.code), "\(error)")
        #expect(ContinuousClock.now - start >= .milliseconds(500), "it was tried until its time was up")
        #expect(!operation.isFinished)

        let second = try await DevServer.start(in: directory, port: first.site.port)
        #expect(try await saving.value.zoneID == otherID)
        try await eventually("the operation is done") { operation.isFinished }
        let zones = try await second.site.makeContainer().privateCloudDatabase.allRecordZones().map(\.zoneID)
        #expect(Set(zones) == [.default, zoneID, otherID])
        try await second.program.stop()
    }
}
