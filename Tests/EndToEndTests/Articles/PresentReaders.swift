// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *Presence*.
struct BookReader: Codable, Equatable {
    var name: String
    var page: Int
}

func showReaders(
    of zoneID: CKRecordZone.ID, in database: CKDatabase, show: ([BookReader]) async -> Void
) async throws {
    for try await members in database.presence(in: zoneID).members {
        let others = members.filter { !$0.isThisDevice }
        await show(others.compactMap { try? JSONDecoder().decode(BookReader.self, from: $0.state) })
    }
}

func turn(to page: Int, as name: String, _ presence: TidemarkPresence) throws {
    try presence.update(JSONEncoder().encode(BookReader(name: name, page: page)))
}

func knock(_ presence: TidemarkPresence) async throws {
    do {
        try await presence.send(Data("knock".utf8))
    } catch let error as CKError where error.retryAfterSeconds != nil || error.code == .networkUnavailable {
        // Nobody has heard it. A message that must arrive is a record.
    }
}

func showPresent(in zoneID: CKRecordZone.ID, of database: CKDatabase, show: ([TidemarkPresenceMember]) -> Void)
    async throws
{
    let presence = database.presence(in: zoneID)
    try presence.update(Data("page 3".utf8))
    for try await members in presence.members { show(members) }
}
