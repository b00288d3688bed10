// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Saves what an archive has into an account. It goes the way of all requests, so that rules, feeds and pushes hold.
/// It may be repeated: what is there already is left alone.
final class ArchiveReader {
    private let console: Console
    private let service: CloudService
    private let account: String
    private let replaces: Bool
    private let life: DeviceID
    private var counter: UInt64 = 0
    private var user: (user: AdminStore.User, archived: String)?
    private var saver: RecordSaver?
    private(set) var tally = RecordSaver.Tally()
    private(set) var zoneCount = 0
    private(set) var assetCount = 0

    init(_ console: Console, _ service: CloudService, account: String, replaces: Bool) {
        self.console = console
        self.service = service
        self.account = account
        self.replaces = replaces
        life = DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits())
    }

    /// - Throws: ``AdminFailure`` if the archive cannot be read further.
    func take(_ line: ArchiveLine) async throws {
        switch line {
        case .account(let head):
            guard head.version == ArchiveLine.version else {
                throw AdminFailure(.refused, "The archive is of version \(head.version): use a newer tidemark.")
            }
        case .container(let line): try await enter(line)
        case .zone(let line): try await enter(line)
        case .asset(let line): try await save(line)
        case .record(let line): try await save(line)
        }
    }

    func finish() async throws {
        guard let saver else { return }
        try await saver.finish()
        tally.savedCount += saver.tally.savedCount
        tally.skippedCount += saver.tally.skippedCount
        tally.failedCount += saver.tally.failedCount
        self.saver = nil
    }

    private func enter(_ line: ArchiveLine.Container) async throws {
        try await finish()
        let key = ContainerKey(identifier: line.container, environment: line.environment.value)
        if try await console.store.createContainer(key) {
            console.say("Created the container \(key.identifier), \(line.environment.rawValue).")
        }
        guard let found = try await console.store.user(ofAccount: account, in: key, now: console.now) else {
            throw AdminFailure.noContainer(key)
        }
        user = (found, line.user)
    }

    private func enter(_ line: ArchiveLine.Zone) async throws {
        try await finish()
        guard let user = user?.user else { throw Self.misplaced }
        if line.zone != ZoneName.default {
            counter += 1
            let request = ZonesRequest(
                id: RequestID(device: life, counter: counter, lowestUnanswered: counter), saves: [line.zone],
                deletes: [],
                encryptionScopes: line.isPerZone ? [line.zone: .perZone] : [:])
            let outcome = try await service.modifyZones(in: user.privateDatabase, request, for: .nobody)
                .mapError { AdminFailure($0) }.get()
            if case .failed(let reason)? = outcome.saves.first { throw AdminFailure(reason) }
        }
        zoneCount += 1
        let key = ZoneKey(database: user.privateDatabase, name: line.zone)
        saver = RecordSaver(console, service, zone: key, user: user.id, replaces: replaces)
    }

    private func save(_ line: ArchiveLine.Asset) async throws {
        guard let user = user?.user, let (asset, data) = line.piece else { throw Self.misplaced }
        let upload = AssetUpload(of: AssetKey(database: user.privateDatabase, content: asset), by: life)
        if line.offset == 0 {
            // What is there already need not be sent.
            let progress = try await service.prepare(upload, by: .owner(user.id)).mapError { AdminFailure($0) }.get()
            if progress.isComplete { return }
        }
        let progress = try await service.append(data[...], at: line.offset, to: upload).mapError { AdminFailure($0) }
            .get()
        if progress.isComplete { assetCount += 1 }
    }

    private func save(_ line: RecordLine) async throws {
        guard let saver, let user else { throw Self.misplaced }
        try await saver.save(line, asUser: line.recordName == user.archived ? user.user.recordName : nil)
    }

    private static let misplaced = AdminFailure(
        .refused, "The archive is damaged: a line stands where it belongs to nothing.")
}
