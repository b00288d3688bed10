// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Deletes all records and custom zones of a container's environment. It goes the way of all requests, so that feeds
/// and pushes hold. It can be repeated after it was cut off. User records stay, because nobody deletes one.
struct ContainerEmptying: Sendable {
    /// What was deleted.
    struct Tally: Sendable, Equatable {
        var recordCount = 0
        var zoneCount = 0
    }

    private let console: Console
    private let key: ContainerKey
    private let service: CloudService
    private let life: DeviceID
    private let limits: Limits

    init(_ console: Console, _ key: ContainerKey) {
        self.console = console
        self.key = key
        limits = console.serverLimits ?? .standard
        service = CloudService(
            storage: console.storage, scheduler: console.loop, limits: limits, onMoved: { _ in })
        life = DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits())
    }

    /// - Throws: ``AdminFailure`` if something cannot be deleted.
    func run() async throws -> Tally {
        var (tally, counter) = (Tally(), UInt64(0))
        if let zone = try await console.store.publicZone(of: key) {
            tally.recordCount += try await empty(zone, &counter)
        }
        for account in try await console.store.accounts() {
            guard let database = try await console.store.privateDatabase(ofAccount: account.name, in: key) else {
                continue
            }
            try await emptyDatabase(database, &tally, &counter)
        }
        await service.stop()
        return tally
    }

    private static let zonesMax = 500

    private func emptyDatabase(_ database: DatabaseID, _ tally: inout Tally, _ counter: inout UInt64) async throws {
        var last: ZoneID?
        while true {
            let zones = try await console.store.livingZones(in: database, after: last, zonesMax: Self.zonesMax)
            for zone in zones {
                if zone.key.name == ZoneName.default {
                    tally.recordCount += try await empty(zone, &counter)
                } else {
                    tally.recordCount += try await console.store.recordCounts(of: zone.id, in: database).living
                    if try await console.store.endZone(zone.key, reason: .deleted) { tally.zoneCount += 1 }
                }
            }
            guard zones.count == Self.zonesMax, let end = zones.last else { return }
            last = end.id
        }
    }

    /// Deletes the records of a zone that stays. A parent goes in a later round than its children.
    private func empty(_ zone: ZoneState, _ counter: inout UInt64) async throws -> Int {
        var sum = 0
        while true {
            let round = try await emptyOnce(zone, &counter)
            sum += round.deletedCount
            guard let reason = round.failure else { return sum }
            guard round.deletedCount > 0 else { throw AdminFailure(reason) }
        }
    }

    private func emptyOnce(
        _ zone: ZoneState, _ counter: inout UInt64
    ) async throws -> (deletedCount: Int, failure: FailureReason?) {
        var (count, failure, place) = (0, FailureReason?.none, "")
        while true {
            let page = try await console.store.recordPage(in: zone, after: place)
            guard let last = page.last else { break }
            place = last.name
            let living = page.filter { !$0.isDeleted && $0.type != RecordType.users }
            for start in stride(from: 0, to: living.count, by: limits.itemsMax) {
                let some = living[start..<min(start + limits.itemsMax, living.count)]
                counter += 1
                for outcome in try await delete(Array(some), of: zone, counter) {
                    switch outcome {
                    case .deleted: count += 1
                    case .failed(let item): failure = item.reason
                    }
                }
            }
        }
        if count > 0 {
            // It is a hint: the servers' sweep makes up for a lost one.
            try? await console.storage.post([
                .zone(ZoneNotice(database: zone.key.database, life: .nobody, zoneName: zone.key.name))
            ])
        }
        return (count, failure)
    }

    private func delete(
        _ records: [RecordState], of zone: ZoneState, _ counter: UInt64
    ) async throws -> [DeleteOutcome] {
        let user = records.first?.createdBy ?? UserID(0)
        let request = RecordsRequest(
            id: RequestID(device: life, counter: counter, lowestUnanswered: counter), key: zone.key, saves: [],
            deletes: records.map(\.name), policy: .ifServerRecordUnchanged, isAtomic: false, user: user,
            access: .owner(user))
        guard let answer = await service.modifyRecords([request], for: .nobody).first else { return [] }
        switch answer {
        case .success(let outcome): return outcome.deletes
        case .failure(let reason): throw AdminFailure(reason)
        }
    }
}
