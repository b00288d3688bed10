// SPDX-License-Identifier: Apache-2.0

/// The rights of an operator. Each role has the rights of the one before, and more. Raw values may be stored.
package enum OperatorRole: Int16, Sendable, Comparable, CaseIterable {
    /// May look at everything but secrets.
    case viewer = 1
    /// May change and delete stored data.
    case editor = 2
    /// May do what concerns the store as a whole, keys and other operators.
    case owner = 3

    package static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rawValue < right.rawValue }

    /// As it is written in commands and documents.
    package var name: String {
        switch self {
        case .viewer: "viewer"
        case .editor: "editor"
        case .owner: "owner"
        }
    }
}
