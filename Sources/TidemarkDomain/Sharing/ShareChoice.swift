// SPDX-License-Identifier: Apache-2.0

/// The living shares for which all people are read: those that a request names. A zone may have many shares, and each many people. A
/// request for one share must not make the server read all.
package struct ShareChoice: Hashable, Sendable {
    /// All of them: for operators, and for what must find somebody wherever they are.
    package static let every = ShareChoice(isEvery: true)

    package let isEvery: Bool
    /// Names of CKShare records.
    package private(set) var names: Set<String> = []
    /// SHA-256 of the secrets of URLs. A one-time link begins with that of its share.
    package private(set) var linkHashes: Set<[UInt8]> = []

    private init(isEvery: Bool) {
        self.isEvery = isEvery
    }

    package init(names: Set<String> = [], linkHashes: Set<[UInt8]> = []) {
        isEvery = false
        self.names = names
        self.linkHashes = linkHashes
    }

    /// The least that is enough for both.
    package func union(_ other: ShareChoice) -> ShareChoice {
        if isEvery || other.isEvery { return .every }
        return ShareChoice(names: names.union(other.names), linkHashes: linkHashes.union(other.linkHashes))
    }

    /// Whether the share is named.
    ///
    /// - Parameter linkHash: of the secret of its URL; nil: it has none.
    package func has(_ share: Share, linkHash: [UInt8]?) -> Bool {
        isEvery || names.contains(share.recordName) || linkHash.map(linkHashes.contains) ?? false
    }
}

extension ShareVisitor {
    /// The share that the visitor opens.
    package var choice: ShareChoice {
        if let linkHash { return ShareChoice(linkHashes: [linkHash]) }
        // A link that was not looked up does not tell which share it opens.
        if secret != nil || linkSecret != nil { return .every }
        return ShareChoice(names: [shareName ?? Share.zoneWideName])
    }
}
