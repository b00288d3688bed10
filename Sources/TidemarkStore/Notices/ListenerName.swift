// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// How the database names the connection on which a server hears others. By it operators' commands find the servers that
/// serve now, and servers find older ones.
///
/// It is `tidemark/47 host/7` for a server that knows 47 migrations, and `tidemark/47` for one that notes no devices. Servers
/// from before migration 47 are `tidemark server host/7`.
package enum ListenerName {
    static let prefix = "tidemark/"
    /// No longer one may take its place: the same server's name would be cut elsewhere.
    static let oldPrefix = "tidemark server "
    /// PostgreSQL cuts longer names.
    private static let bytesMax = 63
    /// How much is kept of a server's name that is too long. Its hash follows.
    private static let beginningBytes = 30

    /// What follows the prefix: the server's name, or its beginning and a hash.
    package static func part(of server: String) -> String {
        guard server.utf8.count > bytesMax - oldPrefix.utf8.count else { return server }
        let beginning = String(decoding: server.utf8.prefix(beginningBytes), as: UTF8.self)
        return beginning + "~" + String(ChangeToken.nameMark(of: server), radix: 16)
    }

    /// - Parameter server: empty: it notes no devices.
    static func whole(_ server: String, migrationCount: Int = Migrations.all.count) -> String {
        let beginning = "\(prefix)\(migrationCount)"
        return server.isEmpty ? beginning : "\(beginning) \(part(of: server))"
    }

    /// A URL by which the server's connection has its name, whatever name the operator gives others.
    static func naming(_ server: String, in url: String) -> String {
        PostgresURL.replacing(["application_name": whole(server)], in: url) ?? url
    }
}

/// A server that is connected to the database, as the name of its connection tells it.
package struct ListeningServer: Sendable, Hashable {
    /// ``ListenerName/part(of:)`` of its name; empty: it notes no devices.
    package let name: String
    /// How many migrations it knows; nil: it is from before servers told it.
    package let migrationCount: Int?

    package init(name: String, migrationCount: Int?) {
        self.name = name
        self.migrationCount = migrationCount
    }

    /// Nil: the connection is no server's.
    package init?(connection: String) {
        if connection.hasPrefix(ListenerName.oldPrefix) {
            self.init(name: String(connection.dropFirst(ListenerName.oldPrefix.count)), migrationCount: nil)
            return
        }
        guard connection.hasPrefix(ListenerName.prefix) else { return nil }
        let rest = connection.dropFirst(ListenerName.prefix.count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int(digits), rest.count == digits.count || rest.dropFirst(digits.count).hasPrefix(" ") else {
            return nil
        }
        self.init(name: String(rest.dropFirst(digits.count + 1)), migrationCount: count)
    }

    /// Whether it does not know the migration of that number.
    package func isOlder(than number: Int) -> Bool { migrationCount.map { $0 < number } ?? true }
}
