// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFairness
import TidemarkService

/// Feeds as a device without special wishes asks for them.
extension CloudService {
    /// A page of a zone's feed, beside all lanes.
    func zoneChanges(
        in key: ZoneKey, token: [UInt8], recordsMax: Int, device: DeviceID, connection: UInt64 = 0,
        reader: RecordAccess?
    ) async -> Result<ZonePage, FailureReason> {
        await zoneChanges(
            ZoneQuestion(
                key: key, token: token, recordsMax: recordsMax, device: device, connection: connection, reader: reader),
            for: .nobody, on: nil
        ) { $0 }
    }

    /// A page of a database's feed alone.
    func databaseChanges(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int, tellsEnds: Bool = false
    ) async -> Result<DatabasePage, FailureReason> {
        await databaseChanges(of: viewer, token: token, zonesMax: zonesMax, tellsEnds: tellsEnds, then: nil)
            .map(\.page)
    }
}
