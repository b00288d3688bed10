// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// The subscriptions of this server: one subject for each database that a device here follows. A pure value.
///
/// If there are very many, it subscribes to all databases at once instead. Then it also receives messages that it does
/// not need.
struct NATSSubscriptions {
    private let prefix: String
    private let countMax: Int
    private var followers: [DatabaseID: Int] = [:]
    /// The number of each subscription; empty while there is one for all.
    private var numbers: [DatabaseID: UInt64] = [:]
    private var everything: UInt64?
    private var lastNumber: UInt64 = 0

    /// A server of NATS remembers each, and a new connection sends all of them.
    static let standardCountMax = 50_000

    init(prefix: String, countMax: Int = Self.standardCountMax) {
        self.prefix = prefix
        self.countMax = countMax
    }

    /// The subject of a database: `tidemark.z.7`.
    func subject(of database: DatabaseID) -> String { "\(prefix).z.\(database.rawValue)" }

    /// The database of a subject; nil if it is not one of ours.
    func database(of subject: String) -> DatabaseID? {
        let beginning = "\(prefix).z."
        guard subject.hasPrefix(beginning), let number = Int64(subject.dropFirst(beginning.count)) else { return nil }
        return DatabaseID(number)
    }

    /// - Returns: what to send if there is a connection.
    mutating func follow(_ databases: [DatabaseID]) -> [UInt8] {
        var sent: [UInt8] = []
        for database in databases {
            followers[database, default: 0] += 1
            guard followers[database] == 1, everything == nil else { continue }
            sent += begin(database)
        }
        guard everything == nil, numbers.count > countMax else { return sent }
        // First all, then none: nothing is missed in between.
        let number = nextNumber()
        everything = number
        sent += NATSMachine.subscribe(to: "\(prefix).z.*", as: number)
        for old in numbers.values.sorted() { sent += NATSMachine.unsubscribe(old) }
        numbers = [:]
        return sent
    }

    /// - Returns: what to send if there is a connection.
    mutating func leave(_ databases: [DatabaseID]) -> [UInt8] {
        var sent: [UInt8] = []
        for database in databases {
            guard let count = followers[database] else { continue }
            followers[database] = count > 1 ? count - 1 : nil
            guard count == 1, let number = numbers.removeValue(forKey: database) else { continue }
            sent += NATSMachine.unsubscribe(number)
        }
        // Half, so that it does not go back and forth.
        guard let number = everything, followers.count <= countMax / 2 else { return sent }
        everything = nil
        for database in followers.keys.sorted() { sent += begin(database) }
        return sent + NATSMachine.unsubscribe(number)
    }

    /// All of it, for a new connection.
    var all: [UInt8] {
        if let everything { return NATSMachine.subscribe(to: "\(prefix).z.*", as: everything) }
        return numbers.sorted { $0.value < $1.value }.flatMap {
            NATSMachine.subscribe(to: subject(of: $0.key), as: $0.value)
        }
    }

    private mutating func begin(_ database: DatabaseID) -> [UInt8] {
        let number = nextNumber()
        numbers[database] = number
        return NATSMachine.subscribe(to: subject(of: database), as: number)
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }
}
