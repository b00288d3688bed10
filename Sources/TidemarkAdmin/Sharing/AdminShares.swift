// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

struct AdminShares: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares", abstract: "Zones that an account shares with others.",
        subcommands: [List.self, Show.self, Revoke.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List the zones that an account shares.",
            examples: "tidemark admin shares list alice --container iCloud.com.example.notes")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.privateDatabase(ofAccount: account)
            var rows: [SharedZoneRow] = []
            for zone in try await console.store.zones(in: id) where zone.removal == nil {
                let key = ZoneKey(database: id, name: zone.name)
                guard let sharing = try await console.storage.sharing(of: key, .whole)?.sharing else { continue }
                for share in sharing.livingShares {
                    let participants = (sharing.participants[share.number] ?? [:]).values
                    rows.append(
                        SharedZoneRow(
                            name: zone.name, root: share.rootName, publicPermission: share.publicPermission.name,
                            memberCount: participants.count { $0.hasAccepted },
                            invitedCount: participants.count { $0.isPending },
                            requestCount: (sharing.requests[share.number] ?? [:]).values.count { !$0.isBlocked }))
                }
            }
            try await console.show(
                rows,
                as: [
                    Column("ZONE", key: "zone", isName: true) { .text($0.name) },
                    Column("ROOT", key: "root") { .optional($0.root) },
                    Column("PUBLIC", key: "publicPermission") { .text($0.publicPermission) },
                    Column("MEMBERS", key: "members") { .number($0.memberCount) },
                    Column("INVITED", key: "invited") { .number($0.invitedCount) },
                    Column("REQUESTS", key: "requests") { .number($0.requestCount) },
                ])
        }
    }

    struct Show: AdminCommand {
        static let configuration = CommandConfiguration(
            "show",
            abstract: "Show the people of a shared zone: participants, invitations, requests and who is blocked.",
            discussion: """
                KIND says what somebody is. participant: takes part. invitation: is invited by name. address: an e-mail \
                address or telephone number is invited, and opens to whoever has it verified. oneTimeLink: a link that \
                nobody has taken, and that lets in the first who comes with it. former: took part, or was invited. \
                request: has asked for access, and waits for the owner. blocked: may not ask, and comes by no link.
                """,
            examples: "tidemark admin shares show alice Notes --container iCloud.com.example.notes")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let (_, sharing, shares) = try await AdminShares.find(zone, of: account, console)
            let rows = shares.flatMap { share in
                SharePerson.all(of: share, in: sharing).map { ShareMember(share: share, person: $0) }
            }
            let users = rows.compactMap(\.person.user)
            let names = try await console.storage.userRecordNames(of: users)
            let accounts = try await console.store.accountNames(of: users)
            for share in shares {
                let root = share.rootName.map { " of \($0)" } ?? ""
                console.say("Everybody with the link\(root): \(share.publicPermission.name)")
                if share.allowsRequests {
                    console.say("Whoever has the link\(root) and is not invited may ask for access.")
                }
            }
            try await console.show(
                rows,
                as: [
                    Column("ID", key: "id", isName: true) { .optional($0.person.row?.id.text) },
                    Column("ROOT", key: "root") { .optional($0.share.rootName) },
                    Column("KIND", key: "kind") { .text($0.person.kind.rawValue) },
                    Column("ACCOUNT", key: "account") { .optional($0.person.user.flatMap { accounts[$0] }) },
                    Column("USER", key: "user", wide: true) { .optional($0.person.user.flatMap { names[$0] }) },
                    Column("ADDRESS", key: "address") { .optional($0.person.row?.address) },
                    Column("ROLE", key: "role") { .optional($0.person.row?.role.name) },
                    Column("PERMISSION", key: "permission") { .optional($0.person.permission?.name) },
                    Column("STATUS", key: "status") { .optional($0.person.row?.status.name) },
                    Column("ADDED", key: "added") { .optional($0.person.since) },
                    Column("LINK", key: "oneTimeLink", wide: true) { .optional($0.person.row?.linkText) },
                ])
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            "revoke", abstract: "Stop sharing a zone, or remove one participant.",
            discussion: """
                Once the command has ended, servers give nothing of the zone to those who lost access. The records stay. \
                Who was removed from a public share can join again with its link: end the share instead.
                """,
            examples: "tidemark admin shares revoke alice Notes --container iCloud.com.example.notes")
        static let role = OperatorRole.owner

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String
        @Option(help: ArgumentHelp("Only this participant's part, by the ID that show prints.", valueName: "id"))
        var participant: ParticipantArgument?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let (key, sharing, shares) = try await AdminShares.find(zone, of: account, console)
            let noParticipant = AdminFailure(
                .refused, "The zone has no such participant. See: tidemark admin shares show \(account) \(zone)")
            if let participant {
                let isThere = shares.contains { sharing.participants[$0.number]?[participant.id]?.isLiving == true }
                guard isThere else { throw noParticipant }
            }
            try await confirm(shares.flatMap { Array((sharing.participants[$0.number] ?? [:]).values) }, console)
            let service = CloudService(
                storage: console.storage, scheduler: console.loop, limits: .standard, onMoved: { _ in })
            switch (await service.revokeShare(of: key, participant: participant?.id), participant) {
            case (.failure(let reason), _): throw AdminFailure(reason)
            case (.success(false), nil): throw AdminShares.missing(zone, of: account)
            case (.success(false), _?): throw noParticipant
            case (.success(true), nil): console.say("\(zone) is not shared any more.")
            case (.success(true), _?): console.say("The participant is removed.")
            }
            // It is a hint: the servers' sweep makes up for a lost one.
            let notice = ZoneNotice(database: key.database, life: .nobody, zoneName: key.name, changesShares: true)
            try? await console.storage.post([.zone(notice)])
        }

        private func confirm(_ participants: [Participant], _ console: Console) async throws {
            if let participant {
                return try await console.confirm(
                    "remove the participant \(participant.id.text) from \(zone) of \(account)",
                    loss: "1 person will lose access.")
            }
            let (members, invited) = (participants.count { $0.hasAccepted }, participants.count { $0.isPending })
            try await console.confirm(
                "stop sharing \(zone) of \(account)",
                loss:
                    "\(Amount.people(members)) will lose access, and \(Amount.text(invited, "invitation")) will be void."
            )
        }
    }

    /// - Throws: ``AdminFailure`` if the account does not share the zone.
    private static func find(
        _ zone: String, of account: String, _ console: Console
    ) async throws -> (key: ZoneKey, sharing: ZoneSharing, shares: [Share]) {
        let key = ZoneKey(database: try await console.privateDatabase(ofAccount: account), name: zone)
        guard let sharing = try await console.storage.sharing(of: key, .whole)?.sharing,
            !sharing.livingShares.isEmpty
        else { throw missing(zone, of: account) }
        return (key, sharing, sharing.livingShares)
    }

    private static func missing(_ zone: String, of account: String) -> AdminFailure {
        AdminFailure(
            .refused, "\(account) does not share a zone \(zone). See: tidemark admin shares list \(account)")
    }
}

/// A row of the list of shared zones.
private struct SharedZoneRow: Sendable {
    let name: String
    /// The root record of a hierarchy; nil: the whole zone is shared.
    let root: String?
    let publicPermission: String
    let memberCount: Int
    let invitedCount: Int
    /// Who has asked for access and waits.
    let requestCount: Int
}

/// A row of the people of a zone's shares.
private struct ShareMember: Sendable {
    let share: Share
    let person: SharePerson
}

extension Participant {
    /// Whether there is a one-time link, which operators are not told, and whether somebody has taken it.
    fileprivate var linkText: String {
        guard linkSecret != nil, isLiving else { return "none" }
        return user == nil ? "untaken" : "taken"
    }
}

/// A participant's ID on a command line.
struct ParticipantArgument: ExpressibleByArgument, Sendable {
    let id: ParticipantID

    init?(argument: String) {
        guard let id = ParticipantID(text: argument) else { return nil }
        self.id = id
    }
}

extension ParticipantID {
    private static let digitCount = 32

    /// As the ID is shown to apps: a UUID.
    var text: String {
        let digits = [high, low].map { number in
            let digits = String(number, radix: 16, uppercase: true)
            return String(repeating: "0", count: Self.digitCount / 2 - digits.count) + digits
        }.joined()
        var text = ""
        for (index, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(index) { text.append("-") }
            text.append(digit)
        }
        return text
    }

    init?(text: String) {
        let digits = text.filter { $0 != "-" }
        guard digits.utf8.count == Self.digitCount, let high = UInt64(digits.prefix(Self.digitCount / 2), radix: 16),
            let low = UInt64(digits.suffix(Self.digitCount / 2), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }
}
