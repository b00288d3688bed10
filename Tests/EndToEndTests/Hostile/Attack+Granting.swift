// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkWire

/// Attacks by keys that are given to others.
extension Attack {
    static let granting = [grants]

    /// As many as a request may have, each as long as it may be, for people whom nobody knows. What is for no reader of the zone is
    /// not kept. If it were, a zone would have gigabytes of them.
    private static let grants = Attack(
        testDescription: "keys for people whom nobody knows", company: .watchers, connections: 4, underWay: 8,
        period: 16, byNobody: .none("nobody has keys"),
        prepare: { database, _ in try await database.save(CKRecordZone(zoneName: "Granted")) },
        holds: { $0.holds("NOT EXISTS (SELECT FROM key_grant WHERE database_id = \($0.database))") }
    ) { envelope, _ in
        envelope.grantKeys = WireGrantKeys()
        envelope.grantKeys.zone = zone("Granted")
        envelope.grantKeys.grants = (0..<UInt64(50)).map { number in
            var grant = WireKeyGrant()
            grant.user = userName(envelope.id * 50 + number)
            grant.publicKey = Array(repeating: 1, count: 32)
            grant.newestID = Array(repeating: 2, count: 16)
            grant.keyCount = 100
            grant.sealed = Array(repeating: 3, count: 4_848)
            return grant
        }
    }
}
