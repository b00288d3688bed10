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
    /// How an archive is read.
    struct Choices {
        let account: String
        /// Whether records that exist get the archive's fields.
        let replaces: Bool
        /// Whether people of shares are the accounts of the same names here.
        let matchesAccounts: Bool
        /// The servers' master key; nil: zones get no keys that need it.
        let escrow: (any KeyEscrow)?
    }

    /// Where the lines belong that follow.
    struct Place {
        let container: ContainerKey
        let user: AdminStore.User
        /// The user's name in the archive.
        let archivedUser: String
        let encryption: EncryptionMode
        var zone: ZoneKey?
        /// The ids of keys that the archive has of the zone, as far as they have come.
        var archivedKeys: Set<[UInt8]> = []
        /// Those of the zone that the archive has opened, by their ids.
        var openedKeys: [[UInt8]: [UInt8]] = [:]
    }

    let console: Console
    let service: CloudService
    let choices: Choices
    let account: AccountID
    private let life: DeviceID
    private var counter: UInt64 = 0
    var place: Place?
    var saver: RecordSaver?
    private(set) var tally = RecordSaver.Tally()
    private(set) var zoneCount = 0
    private(set) var assetCount = 0
    /// People of shares whom nobody here is.
    var unknownPeopleCount = 0
    /// The last line; nil: it has not come.
    private(set) var end: ArchiveLine.End?
    /// What has come, as the last line counts it.
    private var seen = ArchiveLine.End()
    /// An asset that is there already: its pieces are passed over.
    private var present: FieldAsset?

    init(_ console: Console, _ service: CloudService, into account: AccountID, _ choices: Choices) {
        self.console = console
        self.service = service
        self.account = account
        self.choices = choices
        life = DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits())
    }

    /// - Throws: ``AdminFailure`` if the archive cannot be read further.
    func take(_ line: ArchiveLine) async throws {
        guard end == nil else { throw Self.misplaced }
        switch line {
        case .account(let head):
            try head.requireVersion()
            try await takeName(head)
        case .container(let line): try await enter(line)
        case .zone(let line):
            seen.zones += 1
            try await enter(line)
        case .zoneKey(let line): try await save(line)
        case .asset(let line): try await save(line)
        case .record(let line):
            seen.records += 1
            try await save(line)
        case .share(let line):
            seen.shares += 1
            try await save(line)
        case .end(let line): end = line
        }
    }

    /// Whether all lines have come that the last one counts.
    var hasAllLines: Bool {
        guard var end else { return false }
        end.lacks = seen.lacks
        return end == seen
    }

    func finish() async throws {
        guard let saver else { return }
        try await saver.finish()
        tally += saver.tally
        self.saver = nil
    }

    /// The person's name, for an account that has none.
    private func takeName(_ head: ArchiveLine.Account) async throws {
        guard let name = PersonName(given: head.givenName ?? "", family: head.familyName ?? ""),
            name.isValid(limits: .standard),
            try await console.store.account(shownAs: choices.account)?.personName == nil
        else { return }
        try await console.store.setPersonName(name, of: account)
    }

    private func enter(_ line: ArchiveLine.Container) async throws {
        try await finish()
        let key = ContainerKey(identifier: line.container, environment: line.environment.value)
        if try await console.store.createContainer(key) {
            console.say("Created the container \(key.identifier), \(line.environment.rawValue).")
        }
        guard let found = try await console.store.user(ofAccount: choices.account, in: key, now: console.now) else {
            throw AdminFailure.noContainer(key)
        }
        let place = Place(
            container: key, user: found, archivedUser: line.user, encryption: line.encryption?.value ?? .escrowed)
        self.place = place
        if place.encryption == .endToEnd { try await beginEndToEnd(place) }
    }

    private func enter(_ line: ArchiveLine.Zone) async throws {
        try await finish()
        guard let user = place?.user else { throw Self.misplaced }
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
        place?.zone = key
        place?.archivedKeys = []
        place?.openedKeys = [:]
        saver = RecordSaver(console, service, zone: key, user: user.id, replaces: choices.replaces)
    }

    private func save(_ line: ArchiveLine.Asset) async throws {
        guard let user = place?.user, let (asset, data) = line.piece else { throw Self.misplaced }
        if line.offset + Int64(data.count) == asset.byteCount { seen.assets += 1 }
        let upload = AssetUpload(of: AssetKey(database: user.privateDatabase, content: asset), by: life)
        if line.offset == 0 {
            // What is there already need not be sent.
            let progress = try await service.prepare(upload, by: .owner(user.id)).mapError { AdminFailure($0) }.get()
            present = progress.isComplete ? asset : nil
        }
        guard asset != present else { return }
        switch await service.append(data[...], at: line.offset, to: upload) {
        case .success(let progress): if progress.isComplete { assetCount += 1 }
        // What follows may be whole. Records that name the asset are refused, and counted.
        case .failure(.assetModified):
            console.say("The content of the asset \(line.sha256) is damaged: it is left out.")
        case .failure(let reason): throw AdminFailure(reason)
        }
    }

    private func save(_ line: RecordLine) async throws {
        guard let saver, let place, let zone = place.zone else { throw Self.misplaced }
        guard line.recordName == place.archivedUser else { return try await saver.save(line) }
        let own = line.moved(
            to: place.user.recordName, zoneKeys: place.openedKeys, in: (place.container.identifier, zone.name))
        try await saver.save(own, asUser: place.user.recordName)
    }

    static let misplaced = AdminFailure(
        .refused, "The archive is damaged: a line stands where it belongs to nothing.")
}
