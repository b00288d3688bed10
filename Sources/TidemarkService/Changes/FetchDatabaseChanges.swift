// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension CloudService {
    /// One page of the feed of changed zones (R-203 … R-207). A page of the feed of a zone that has probably changed may
    /// come with it, in the same round trip to the store.
    ///
    /// - Parameters:
    ///   - viewer: the user's private or shared database, to which the feed belongs.
    ///   - token: from the page before; empty for a first fetch, which lists the existing zones.
    ///   - zonesMax: the most zones that the client wants; 0 leaves it to the server.
    ///   - tellsEnds: whether a first fetch includes zones that are gone.
    ///   - question: the viewer's question, about their own zone or one that they see in their shared database.
    package func databaseChanges(
        of viewer: DatabaseID, token: [UInt8], zonesMax: Int, tellsEnds: Bool, then question: ZoneQuestion?
    ) async -> Result<DatabasePageAndZone, FailureReason> {
        let answer = await feedReader.databasePage(
            of: viewer, token: token, zonesMax: zonesMax, tellsEnds: tellsEnds, then: question)
        if let question, case .success(let both) = answer, let page = both.zonePage, page.moreComing {
            pagesAhead.forget(after: page, of: question)
        }
        return answer
    }
}
