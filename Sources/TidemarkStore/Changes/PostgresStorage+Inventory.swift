// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func inventory(
        of key: ZoneKey, _ listing: ZoneListing?
    ) async throws(StorageError) -> StoreRead<ZoneInventory?> {
        let rows = try await read(sql.changes.inventory(ZoneInventoryQuery(key, listing)))
        guard case .zone(let head)? = rows.first else { return StoreRead(nil, in: try await incarnation()) }
        var inventory = head.inventory(of: key)
        for case .record(let version, let isDeleted) in rows.dropFirst() {
            if !isDeleted { inventory.versions.append(version) }
            inventory.next = version.name
        }
        // Fewer rows than were asked for: there are no more.
        if rows.count - 1 < listing?.rowsMax ?? 1 { inventory.next = nil }
        return StoreRead(inventory, in: head.store)
    }
}
