// SPDX-License-Identifier: Apache-2.0

/// Identifies an operator of a store.
package struct OperatorID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// Identifies one credential of an operator, so that it can be listed and revoked.
package struct OperatorCredentialID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// An operator who has shown a valid credential.
package struct SignedInOperator: Sendable, Equatable {
    package let id: OperatorID
    package let credential: OperatorCredentialID
    package let name: String
    package let role: OperatorRole

    package init(id: OperatorID, credential: OperatorCredentialID, name: String, role: OperatorRole) {
        self.id = id
        self.credential = credential
        self.name = name
        self.role = role
    }
}
