// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Section 5 of the rules as data. Every policy meets every tag and every state of record and zone, in each database, with
/// changes and without. The table says what must come of it. The pure rules and a real server are held to it.
package enum SaveTruthTable {
    /// What the client's record carries.
    package enum Tag: CaseIterable, Sendable {
        case none, equal, older, ahead, otherIncarnationOfZone, otherStore, foreign
    }

    /// What the server has under the record's name.
    package enum Server: CaseIterable, Sendable {
        case neverExisted, deleted, present, presentWithAnotherType

        package var isPresent: Bool { self == .present || self == .presentWithAnotherType }
    }

    package enum Zone: String, CaseIterable, Sendable {
        case standard = "_defaultZone"
        case living, recreated, neverMade, deleted, purged, keysReset

        package var lives: Bool { [.standard, .living, .recreated].contains(self) }
    }

    /// Whose record it is to the one who saves.
    package enum Access: CaseIterable, Sendable {
        /// The owner of a private database.
        case owner
        /// In the public database: who created the record (or would), another user, nobody.
        case creator, otherUser, nobody
        /// Whoever it is in their shared database, which has no zones as long as servers keep no shares.
        case guest

        package var scope: DatabaseScope {
            switch self {
            case .owner: .private
            case .creator, .otherUser, .nobody: .public
            case .guest: .shared
            }
        }

        /// Why a server refuses the whole request, before anybody looks at the records; nil if it does not.
        package var refusal: FailureReason? {
            self == .nobody ? .notAuthenticated : nil
        }

        /// Whether it is there: the public database has no zone but the default one, the shared one none at all, whatever the
        /// zone's owner has.
        package func sees(_ zone: Zone) -> Bool { self != .guest && zone.lives }

        /// Whether it is asked for such a zone.
        func names(_ zone: Zone) -> Bool {
            switch self {
            case .owner: true
            case .creator, .otherUser, .nobody: zone == .standard
            case .guest: zone == .living
            }
        }
    }

    /// What the client sends.
    package enum Sent: CaseIterable, Sendable {
        case changes
        /// No key at all.
        case nothing
    }

    package enum Result: Equatable, Sendable {
        case created, updated
        /// the version that is there stays.
        case kept
        case refused(FailureReason)
    }

    package struct Cell: Sendable, Hashable, CustomStringConvertible {
        package let policy: SavePolicy
        package let tag: Tag
        package let server: Server
        package let zone: Zone
        package let access: Access
        package let sent: Sent

        package var description: String { "\(policy) \(tag) \(server) \(zone) \(access) \(sent)" }
        /// A name for a record of its own.
        package var recordName: String { description.split(separator: " ").joined(separator: ".") }

        /// whether a save that succeeds meets another version than the client's. Then the answer brings the record.
        package var isBehind: Bool {
            policy != .ifServerRecordUnchanged && (isPresent ? tag != .equal : tag != .none)
        }

        /// Whether there can be such a thing: a zone that does not live has no records.
        var exists: Bool {
            (access.sees(zone) || server == .neverExisted) && access.names(zone)
        }
    }

    package typealias Rule = TruthRule<Cell, Result>

    /// Refusals first, in the order in which they win.
    package static let rules: [Rule] = [
        Rule("R-006", .refused(.notAuthenticated)) { $0.access == .nobody },
        Rule("R-010", .refused(.zoneNotFound)) { $0.access == .guest },
        Rule("R-028 R-105", .refused(.zoneNotFound)) { $0.zone == .neverMade || $0.zone == .deleted },
        Rule("R-106", .refused(.zonePurged)) { $0.zone == .purged },
        Rule("R-107", .refused(.zoneKeysReset)) { $0.zone == .keysReset },
        Rule("R-007", .refused(.notPermitted)) { $0.access == .otherUser && $0.isPresent },
        Rule("R-108", .refused(.recordTypeChanged)) { $0.server == .presentWithAnotherType },
        Rule("R-092 R-110", .refused(.recordExists)) { $0.isStrict && $0.tag == .none && $0.isPresent },
        Rule("R-094 R-112", .refused(.recordChanged)) {
            $0.isStrict && ![.none, .equal].contains($0.tag) && $0.isPresent
        },
        Rule("R-095 R-096", .refused(.recordMissing)) { $0.isStrict && $0.tag != .none && !$0.isPresent },
        Rule("R-090", .created) { $0.isStrict && $0.tag == .none && $0.server == .neverExisted },
        Rule("R-091", .created) { $0.isStrict && $0.tag == .none && $0.server == .deleted },
        Rule("R-114", .kept) { $0.sent == .nothing && $0.isPresent },
        Rule("R-093", .updated) { $0.isStrict && $0.tag == .equal && $0.isPresent },
        Rule("R-097", .created) { $0.policy == .changedKeys && $0.tag == .none && !$0.isPresent },
        Rule("R-098", .updated) { $0.policy == .changedKeys && $0.tag == .none && $0.isPresent },
        Rule("R-099", .updated) { $0.policy == .changedKeys && $0.tag != .none && $0.isPresent },
        Rule("R-100", .created) { $0.policy == .changedKeys && $0.tag != .none && !$0.isPresent },
        Rule("R-101", .created) { $0.policy == .allKeys && $0.tag == .none && !$0.isPresent },
        Rule("R-102", .updated) { $0.policy == .allKeys && $0.tag == .none && $0.isPresent },
        Rule("R-103", .updated) { $0.policy == .allKeys && $0.tag != .none && $0.isPresent },
        Rule("R-104", .created) { $0.policy == .allKeys && $0.tag != .none && !$0.isPresent },
    ]

    package static let cells: [Cell] = SavePolicy.allCases.flatMap { policy in
        Tag.allCases.flatMap { tag in
            Server.allCases.flatMap { server in
                Zone.allCases.flatMap { zone in
                    Access.allCases.flatMap { access in
                        Sent.allCases.map { sent in
                            Cell(policy: policy, tag: tag, server: server, zone: zone, access: access, sent: sent)
                        }
                    }
                }
            }
        }
    }.filter(\.exists)

    /// The line that says what comes of a cell.
    package static func rule(for cell: Cell) -> Rule? { rules.first { $0.holds(cell) } }
}

extension SaveTruthTable.Cell {
    fileprivate var isPresent: Bool { server.isPresent }
    fileprivate var isStrict: Bool { policy == .ifServerRecordUnchanged }
}
