// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkService
import TidemarkTestKit

// No fault is planted in what devices give of a zone's keys.
extension PlantedStorage {
    func keyReaders(
        of zone: ZoneKey, after last: UserID?, countMax: Int
    ) async throws(StorageError) -> KeyReadersPage? {
        try await base.keyReaders(of: zone, after: last, countMax: countMax)
    }

    func saveKeyGrants(_ grants: [KeyGrant], in zone: ZoneKey, now: Timestamp) async throws(StorageError) {
        try await base.saveKeyGrants(grants, in: zone, now: now)
    }

    func givenKeys(in zones: [ZoneKey], to user: UserID) async throws(StorageError) -> [ZoneKey: GivenKeys] {
        try await base.givenKeys(in: zones, to: user)
    }
}
