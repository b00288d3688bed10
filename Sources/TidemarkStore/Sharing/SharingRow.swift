// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A row of a statement that reads shares: a zone, one of its shares if it has any, and one of the share's participants
/// if any was found, or somebody who has asked for access.
struct SharingRow {
    /// The place of the zone in the list, counted from 1.
    let ordinal: Int
    let zone: ZoneID
    let owner: UserID
    let secret: [UInt8]?
    let share: Share?
    let participant: Participant?
    let request: AccessRequest?
    /// Whether all people of the share come.
    let isChosen: Bool
    /// The names of the owner and of the participant, or of who has asked. Nil if they have none, or the statement does not read names.
    private(set) var ownerName: PersonName?
    private(set) var participantName: PersonName?

    init(_ row: PostgresRow) throws(PostgresError) {
        ordinal = try row["ordinal"]
        zone = try row["zone_id"]
        owner = try row["owner_id"]
        secret = try row["secret"]
        share = try Self.share(row)
        isChosen = share == nil ? false : try row["is_chosen"]
        participant = try Self.participant(row)
        request = participant == nil ? try Self.request(row) : nil
    }

    /// A row of the statement that also reads names.
    init(named row: PostgresRow) throws(PostgresError) {
        try self.init(row)
        ownerName = PersonName(storedGiven: try row["owner_given_name"], family: try row["owner_family_name"])
        participantName = PersonName(storedGiven: try row["given_name"], family: try row["family_name"])
    }

    private static func share(_ row: PostgresRow) throws(PostgresError) -> Share? {
        guard let number: ShareNumber = try row["share_number"] else { return nil }
        let endedNumber: ChangeNumber? = try row["share_ended_number"]
        return Share(
            number: number, recordName: try row["record_name"], rootName: try row["root_name"],
            rootSecret: try row["root_secret"],
            publicPermission: try code(try row["public_permission"]), allowsRequests: try row["allows_requests"],
            endedNumber: endedNumber)
    }

    /// Nil if nobody was found. The statement says why the numbers are these.
    private static func request(_ row: PostgresRow) throws(PostgresError) -> AccessRequest? {
        guard let user: UserID = try row["user_id"] else { return nil }
        let status: Int16 = try row["status"]
        guard status == 4 || status == 5 else { throw PostgresError(.unexpectedResult, detail: "read_sharing") }
        return AccessRequest(user: user, requestedAt: try row["added_at"], isBlocked: status == 5)
    }

    private static func participant(_ row: PostgresRow) throws(PostgresError) -> Participant? {
        guard let id: ParticipantID = try row["id"] else { return nil }
        return Participant(
            id: id, user: try row["user_id"], address: try row["address"], linkSecret: try row["link_secret"],
            role: try code(try row["role"]), permission: try code(try row["permission"]),
            status: try code(try row["status"]), acceptedNumber: try row["accepted_number"],
            begunNumber: try row["begun_number"], endedNumber: try row["ended_number"], addedAt: try row["added_at"],
            isApprovedRequester: try row["is_approved_requester"])
    }

    private static func code<Code: RawRepresentable<Int16>>(_ value: Int16) throws(PostgresError) -> Code {
        guard let code = Code(rawValue: value) else { throw PostgresError(.unexpectedResult, detail: "read_sharing") }
        return code
    }
}

/// The shares of one zone, made of rows.
struct SharingRows {
    /// Whether all participants are read.
    let isWhole: Bool
    private var personNames: [UserID: PersonName] = [:]
    private var owner: UserID?
    private var secret: [UInt8]?
    private var shares: [Share] = []
    private var participants: [ShareNumber: [Participant]] = [:]
    private var requests: [ShareNumber: [AccessRequest]] = [:]
    private var wholeShares: Set<ShareNumber> = []

    init(isWhole: Bool) {
        self.isWhole = isWhole
    }

    mutating func add(_ row: SharingRow) {
        owner = row.owner
        secret = row.secret
        if let name = row.ownerName { personNames[row.owner] = name }
        if let user = row.participant?.user ?? row.request?.user, let name = row.participantName {
            personNames[user] = name
        }
        guard let share = row.share else { return }
        if shares.last?.number != share.number {
            shares.append(share)
            if row.isChosen {
                participants[share.number] = participants[share.number] ?? []
                if !isWhole { wholeShares.insert(share.number) }
            }
        }
        if let participant = row.participant { participants[share.number, default: []].append(participant) }
        if let request = row.request { requests[share.number, default: []].append(request) }
    }

    /// Nil if there was no row: no such zone lives, or it is no user's.
    var sharing: ZoneSharing? {
        owner.map {
            ZoneSharing(
                owner: $0, shares: shares, participants: participants, requests: requests, secret: secret,
                isWhole: isWhole, wholeShares: wholeShares, personNames: personNames)
        }
    }
}

extension SharingRead {
    /// Who asks. Nil: an operator.
    var asker: UserID? { viewer ?? users.first }

    /// Those who are asked about one by one.
    var users: [UserID] {
        if case .access(let users) = self { users } else { [] }
    }

    /// The statement that reads it for some zones; nil if nothing is to be read.
    func call(for zones: [ZoneKey]) -> Call<SharingRow>? {
        switch self {
        case .nothing: return nil
        case .whole, .people: return sql.sharing.readPeople(PeopleQuery(zones, zones.map { _ in self }))
        case .shown: return sql.sharing.readShown(PeopleQuery(zones, zones.map { _ in self }))
        case .linked: return sql.sharing.readLinked(PeopleQuery(zones, zones.map { _ in self }))
        case .access: return sql.sharing.readAccess(AccessQuery(zones, zones.map { _ in self }))
        }
    }
}

extension AccessQuery {
    /// - Parameter reads: of each zone.
    init(_ zones: [ZoneKey], _ reads: [SharingRead]) {
        let users = reads.enumerated().flatMap { index, read in
            read.users.map { WantedUser(place: Int32(index + 1), user: $0) }
        }
        self.init(zones: zones, users: users)
    }
}
