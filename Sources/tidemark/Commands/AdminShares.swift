// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

struct AdminShares: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shares", abstract: "Zones that an account shares with others.",
        subcommands: [List.self, Show.self, Revoke.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the zones that an account shares.")

        @OptionGroup var owner: AdminZones.Owner
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let owner = owner
            let rows = try database.withStorage { storage, _ in
                let store = AdminStore(storage)
                let id = try await owner.database(store)
                var rows: [[String]] = []
                for zone in try await store.zones(in: id) where zone.removal == nil {
                    let key = ZoneKey(database: id, name: zone.name)
                    guard let sharing = try await storage.sharing(of: key, .whole)?.sharing,
                        let share = sharing.livingShare
                    else { continue }
                    let participants = (sharing.participants[share.number] ?? [:]).values
                    rows.append([
                        zone.name, share.publicPermission.name, "\(participants.count { $0.hasAccepted })",
                        "\(participants.count { $0.isPending })",
                    ])
                }
                return rows
            }
            Table.print(["ZONE", "PUBLIC", "MEMBERS", "INVITED"], rows)
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the participants of a shared zone: accepted, invited and removed.")

        @Argument(help: "The zone's name.") var zone: String
        @OptionGroup var owner: AdminZones.Owner
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (owner, zone) = (owner, zone)
            let (share, rows, names) = try database.withStorage { storage, _ in
                let key = ZoneKey(database: try await owner.database(AdminStore(storage)), name: zone)
                let sharing = try await storage.sharing(of: key, .whole)?.sharing
                guard let sharing, let share = sharing.livingShare else {
                    throw AdminShares.missing(zone, of: owner)
                }
                let rows = (sharing.participants[share.number] ?? [:]).values.sorted {
                    ($0.addedAt, $0.id) < ($1.addedAt, $1.id)
                }
                return (share, rows, try await storage.userRecordNames(of: rows.compactMap(\.user)))
            }
            print("Everybody with the link: \(share.publicPermission.name)")
            Table.print(
                ["ID", "USER", "ADDRESS", "ROLE", "PERMISSION", "STATUS", "ADDED"],
                rows.map { row in
                    let permission = row.role == .publicUser ? share.publicPermission : row.permission
                    return [
                        row.id.text, row.user.flatMap { names[$0] } ?? "", row.address ?? "", row.role.name,
                        permission.name, row.status.name, Table.date(row.addedAt),
                    ]
                })
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop sharing a zone, or remove one participant.",
            discussion: """
                Once the command has ended, servers give nothing of the zone to those who lost access. The records stay. \
                Who was removed from a public share can join again with its link: end the share instead.
                """)

        @Argument(help: "The zone's name.") var zone: String
        @Option(help: ArgumentHelp("Only this participant's part, by the ID that show prints.", valueName: "id"))
        var participant: ParticipantArgument?
        @OptionGroup var owner: AdminZones.Owner
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (owner, zone, participant) = (owner, zone, participant?.id)
            let revoked = try database.withStorage { storage, loop in
                let key = ZoneKey(database: try await owner.database(AdminStore(storage)), name: zone)
                let service = CloudService(storage: storage, scheduler: loop, limits: .standard, onMoved: { _ in })
                let revoked = await service.revokeShare(of: key, participant: participant)
                // It is a hint: the servers' sweep makes up for a lost one.
                let notice = ZoneNotice(
                    database: key.database, life: .nobody, zoneName: key.name, changesShares: true)
                if case .success(true) = revoked { try? await storage.post([.zone(notice)]) }
                return revoked
            }
            switch (revoked, participant) {
            case (.failure(let reason), _): throw CommandError(reason.text)
            case (.success(false), nil): throw AdminShares.missing(zone, of: owner)
            case (.success(false), _?):
                throw CommandError(
                    "The zone has no such participant. See: tidemark admin shares show \(zone) "
                        + "--account \(owner.account) --container \(owner.container)")
            case (.success(true), nil): print("\(zone) is not shared any more.")
            case (.success(true), _?): print("The participant is removed.")
            }
        }
    }

    fileprivate static func missing(_ zone: String, of owner: AdminZones.Owner) -> CommandError {
        CommandError(
            "\(owner.account) does not share a zone \(zone). See: tidemark admin shares list "
                + "--account \(owner.account) --container \(owner.container)")
    }
}

/// A participant's ID on a command line.
struct ParticipantArgument: ExpressibleByArgument {
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
