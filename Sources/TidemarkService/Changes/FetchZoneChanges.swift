// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of a zone's change feed (R-208 … R-214).
    ///
    /// - Parameters:
    ///   - token: from the page before; empty for a first fetch.
    ///   - recordsMax: what the client asks for; 0 leaves it to the server. A page is cut at `Limits.answerBytesMax` too.
    ///   - device: who asks.
    ///   - tellsEnds: whether a first fetch is told of everything that was deleted.
    package func zoneChanges(
        in key: ZoneKey, token: [UInt8], recordsMax: Int, device: DeviceID, tellsEnds: Bool = false
    ) async -> Result<ZonePage, FailureReason> {
        await pagesAhead.page(
            .init(key: key, token: token, recordsMax: recordsMax, device: device, tellsEnds: tellsEnds))
    }
}
