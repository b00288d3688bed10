// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The result of one statement, and the incarnation of the store from the same snapshot. Tokens name that incarnation,
/// and reading it separately would cost each page a round trip.
@dynamicMemberLookup
package struct StoreRead<Value: Sendable>: Sendable {
    package var value: Value
    package let store: StoreIncarnation

    package init(_ value: Value, in store: StoreIncarnation) {
        self.value = value
        self.store = store
    }

    package subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Member {
        get { value[keyPath: path] }
        set { value[keyPath: path] = newValue }
    }
}
