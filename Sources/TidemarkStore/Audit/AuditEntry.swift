// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A row of the audit: what an operator did, or that somebody signed in. It never has secrets.
package struct AuditEntry: Sendable, Equatable {
    /// What kinds of rows there are.
    package enum Kind: String, Sendable, CaseIterable {
        case action
        case signIn
    }

    /// What became of it. The raw value is stored.
    package enum Result: Int16, Sendable {
        /// An operator's action that has not ended, or whose program has died.
        case begun = 0
        case done = 1
        case refused = 2

        package var name: String {
            switch self {
            case .begun: "begun"
            case .done: "done"
            case .refused: "refused"
            }
        }
    }

    /// The place in the order of all rows.
    package let id: Int64
    package let at: Timestamp
    package let kind: Kind
    /// The operator, or the account that signed in. Empty: nobody has the credential.
    package let who: String
    /// The device that signed in.
    package let device: DeviceID?
    /// From where it was done; empty if that is not known.
    package let address: String
    /// The command by its nouns and verbs, such as `accounts disable`; `sign-in` for sign-ins.
    package let action: String
    /// What it was done to: the command's arguments without options. Empty for sign-ins.
    package let target: String
    package let result: Result
    /// Why it was refused; empty if it was not.
    package let detail: String
    /// The operator's command, or the request with which the session began; nil: it is not known.
    package let request: ChangeCause?
}

/// An operator's action, before it is carried out.
package struct AuditAction: Sendable, Equatable {
    package let who: String
    package let address: String
    package let action: String
    package let target: String

    /// The command that closes connections. Servers that have missed its notice look for it.
    package static let closesConnections = "connections close"

    /// The most bytes of each text. Longer ones are cut.
    private static let textBytesMax = 1_024

    /// - Parameters:
    ///   - who: the operator's name, or the user of the operating system.
    ///   - address: from where a server was told it; empty for a program that talks to the database.
    package init(who: String, address: String = "", action: String, target: String) {
        self.who = Self.bounded(who)
        self.address = Self.bounded(address)
        self.action = Self.bounded(action)
        self.target = Self.bounded(target)
    }

    /// PostgreSQL stores no U+0000.
    static func bounded(_ text: String) -> String {
        let kept = text.unicodeScalars.lazy.filter { $0 != "\0" }
        var (result, byteCount) = (String.UnicodeScalarView(), 0)
        for scalar in kept {
            byteCount += UTF8.width(scalar)
            guard byteCount <= textBytesMax else { break }
            result.append(scalar)
        }
        return String(result)
    }
}

/// Which rows of the audit an operator wants to see.
package struct AuditFilter: Sendable {
    /// Nil: both kinds.
    package var kind: AuditEntry.Kind?
    /// The operator or account; nil: all.
    package var who: String?
    package var since = Timestamp(milliseconds: 0)
    /// Only those that were refused, or did not end.
    package var failuresOnly = false
    /// Only this command, or the sign-in of the session that made this request; nil: all.
    package var request: ChangeCause?

    package init() {}
}
