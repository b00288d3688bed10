// SPDX-License-Identifier: Apache-2.0

/// The types of the records that a commit saved or deleted in a zone. It may name too many, and never too few. A
/// pure value.
package struct ChangedTypes: Sendable, Equatable {
    /// The most types that are known one by one. With more, any may have changed: nobody has room for all names (I-7).
    package static let countMax = 8

    /// Nil: any may have changed.
    private var names: Set<String>?

    private init(names: Set<String>?) {
        self.names = names
    }

    /// Records of any type may have changed.
    package static let any = ChangedTypes(names: nil)
    /// No record has changed.
    package static let none = ChangedTypes(names: [])

    /// The types of the versions before and after. In a hierarchy, records whose viewers changed count as well.
    package init(of changes: ZoneChanges) {
        self.init(names: [])
        insert(changes.records.lazy.map { $0.type })
        insert(changes.replaced.lazy.map { $0.type })
        insert(changes.shareRecords.lazy.map { $0.type })
    }

    /// Takes in the types of more records.
    package mutating func insert(_ types: some Sequence<String>) {
        // Most commits have one type, so few names are hashed.
        var last: String?
        for type in types where type != last {
            last = type
            names?.insert(type)
            bound()
            if names == nil { return }
        }
    }

    private mutating func bound() {
        if let count = names?.count, count > Self.countMax { names = nil }
    }

    /// Takes in what another commit changed.
    package mutating func formUnion(_ other: ChangedTypes) {
        guard let more = other.names else {
            names = nil
            return
        }
        names?.formUnion(more)
        bound()
    }

    /// Whether records of the type may have changed.
    package func mayInclude(_ type: String) -> Bool { names?.contains(type) ?? true }

    /// The bytes of all names.
    package var byteCount: Int { names?.reduce(0) { $0 + $1.utf8.count } ?? 0 }
}
