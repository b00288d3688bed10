// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Section 6 of the rules as data: every state of record and zone, in each database, alone and with relatives, and what must
/// come of a deletion. The pure rules and a real server are held to the same table.
package enum DeleteTruthTable {
    package typealias Server = SaveTruthTable.Server
    package typealias Zone = SaveTruthTable.Zone
    package typealias Access = SaveTruthTable.Access

    /// Who else has to do with the record.
    package enum Relation: CaseIterable, Sendable {
        case none
        /// It has a parent.
        case parent
        /// It is a parent: of one that stays, or that the request deletes too, before it or after.
        case child, childDeletedBefore, childDeletedAfter
        /// Another refers to it with deleteSelf, and a third to that one.
        case holders
        /// Another refers to it with deleteSelf, and is the parent of one that stays.
        case holderWithChild
    }

    package enum Result: Equatable, Sendable {
        case deleted
        /// a success, of which nobody is told.
        case nothing
        case refused(FailureReason)
    }

    /// A record beside the one that is deleted.
    package struct Relative: Sendable {
        package let name: String
        package var parent: String?
        /// With deleteSelf.
        package var target: String?
    }

    package struct Cell: Sendable, Hashable, CustomStringConvertible {
        package let server: Server
        package let zone: Zone
        package let access: Access
        package let relation: Relation

        package var description: String { "\(server) \(zone) \(access) \(relation)" }
        /// A name for a record of its own.
        package var recordName: String { description.split(separator: " ").joined(separator: ".") }

        /// Of the record that is deleted.
        package var parent: String? { relation == .parent ? relative(1) : nil }

        /// In an order in which they can be saved after the record and its parent.
        package var relatives: [Relative] {
            switch relation {
            case .none: []
            case .parent: [Relative(name: relative(1))]
            case .child, .childDeletedBefore, .childDeletedAfter: [Relative(name: relative(1), parent: recordName)]
            case .holders:
                [
                    Relative(name: relative(1), target: recordName),
                    Relative(name: relative(2), target: relative(1)),
                ]
            case .holderWithChild:
                [
                    Relative(name: relative(1), target: recordName),
                    Relative(name: relative(2), parent: relative(1)),
                ]
            }
        }

        /// What the request names.
        package var deletes: [String] {
            switch relation {
            case .childDeletedBefore: [relative(1), recordName]
            case .childDeletedAfter: [recordName, relative(1)]
            default: [recordName]
            }
        }

        /// What goes along, if the record goes.
        package var company: [String] { relation == .holders ? [relative(1), relative(2)] : [] }

        private func relative(_ number: Int) -> String { "\(recordName).\(number)" }

        /// Whether there can be such a thing: a zone that does not live has no records, and what is not there no relatives.
        var exists: Bool {
            (access.sees(zone) || server == .neverExisted) && (server.isPresent || relation == .none)
                && access.names(zone)
        }
    }

    package typealias Rule = TruthRule<Cell, Result>

    /// Refusals first, in the order in which they win.
    package static let rules: [Rule] = [
        Rule("R-006", .refused(.notAuthenticated)) { $0.access == .nobody },
        Rule("R-010", .refused(.zoneNotFound)) { $0.access == .guest },
        Rule("R-132", .refused(.zoneNotFound)) { $0.zone == .neverMade || $0.zone == .deleted },
        Rule("R-106", .refused(.zonePurged)) { $0.zone == .purged },
        Rule("R-107", .refused(.zoneKeysReset)) { $0.zone == .keysReset },
        Rule("R-139", .refused(.notPermitted)) { $0.access == .otherUser && $0.server.isPresent },
        Rule("R-131", .nothing) { !$0.server.isPresent },
        Rule("R-136", .refused(.stillParent)) { $0.relation == .child },
        Rule("R-133 R-136", .refused(.stillParent)) { $0.relation == .holderWithChild },
        Rule("R-137", .deleted) { $0.relation == .childDeletedBefore || $0.relation == .childDeletedAfter },
        Rule("R-133 R-134 R-135", .deleted) { $0.relation == .holders },
        Rule("R-130 R-136", .deleted) { $0.relation == .parent },
        Rule("R-130", .deleted) { $0.relation == .none },
    ]

    package static let cells: [Cell] = Server.allCases.flatMap { server in
        Zone.allCases.flatMap { zone in
            Access.allCases.flatMap { access in
                Relation.allCases.map { Cell(server: server, zone: zone, access: access, relation: $0) }
            }
        }
    }.filter(\.exists)

    /// The line that says what comes of a cell.
    package static func rule(for cell: Cell) -> Rule? { rules.first { $0.holds(cell) } }
}
