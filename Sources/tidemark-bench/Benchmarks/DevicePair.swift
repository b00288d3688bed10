// SPDX-License-Identifier: Apache-2.0

internal import TidemarkKit

/// A device that changes a zone, and another one that hears of it: of the same account, or of one with which the zone
/// is shared.
struct DevicePair: Sendable {
    let writer: Device
    let reader: Device
    /// As the writer names it.
    let zone: CKRecordZone.ID

    /// When this returns, changes of the first device have reached the second.
    ///
    /// - Parameters:
    ///   - name: of the zone, which is made.
    ///   - servers: the ports of the writer's and of the reader's server.
    init(_ bench: Bench, zone name: String, servers: (writer: UInt16, reader: UInt16), isShared: Bool) throws {
        let zone = CKRecordZone.ID(zoneName: name)
        let owner = try bench.database().makeAccount()
        let own = CountingApp.database(servers.writer, owner.credential, bench)
        _ = try blocking { try await own.save(CKRecordZone(zoneID: zone)) }
        let read: CKDatabase
        if isShared {
            let participant = try bench.database().makeAccount()
            try bench.database().share(name, of: owner, with: [participant])
            read = CountingApp.container(servers.reader, participant.credential, bench).sharedCloudDatabase
        } else {
            read = CountingApp.database(servers.reader, owner.credential, bench)
        }
        self.zone = zone
        writer = Device(own)
        reader = Device(read)
        _ = try arrivalTimes(3)
    }

    /// From changes to their events, in milliseconds.
    ///
    /// - Parameter furtherPause: up to which the pause before a change is longer, by chance.
    func arrivalTimes(_ count: Int, furtherPause: Duration = .zero) throws -> [Double] {
        try blocking {
            try await SaveToEventBenchmark.measure(
                count, from: writer, to: reader, in: zone, furtherPause: furtherPause)
        }
    }
}
