// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of the feed that says which zones changed (R-203 … R-207).
    ///
    /// - Parameters:
    ///   - viewer: the user's private database, whose feed it is.
    ///   - token: from the page before; empty for a first fetch, which lists the zones that exist.
    ///   - zonesMax: what the client asks for; 0 leaves it to the server.
    ///   - tellsEnds: whether a first fetch is told of zones that are gone.
    package func databaseChanges(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int, tellsEnds: Bool = false
    ) async -> Result<DatabasePage, FailureReason> {
        await databaseChanges(of: viewer, token: token, zonesMax: zonesMax, tellsEnds: tellsEnds, then: nil)
            .map(\.page)
    }

    /// As above, and a page of the feed of a zone that is expected to have changed, in the same round trip to the store.
    ///
    /// - Parameter question: who asks it may read all of the zone.
    package func databaseChanges(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int, tellsEnds: Bool, then question: ZoneQuestion?
    ) async -> Result<DatabasePageAndZone, FailureReason> {
        await feedReader.databasePage(
            of: viewer, token: token, zonesMax: zonesMax, tellsEnds: tellsEnds, then: question)
    }
}
