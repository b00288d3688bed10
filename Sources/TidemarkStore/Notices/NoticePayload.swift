// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
package import TidemarkService

/// Notices as text for a bus: one line each, with tabs between values. Zone names are printable ASCII, so they contain
/// neither.
///
///     z <database> <device in hexadecimal digits> <zone name>
///     s <database> <device in hexadecimal digits> <name of a zone whose shares changed too>
///     c <credential>
///     d <account> <device in hexadecimal digits>
///     x <account> <device in hexadecimal digits, or nothing for all>
///     k <container>
///     l <account, or 0 for all>
///     q <account, or 0 for all> <number of the question in hexadecimal digits>
///     f <database> <user> <scope> <reason, or 0> <device in hexadecimal digits> <subscription> <record name> <zone name>
///     v <database whose query subscriptions may all have been fired>
///     w <database whose query subscriptions have changed>
///     e <public database> <number> <number up to which the changes after the first have fired all that they fire>
///     p … (``PresencePayload``)
///     a <when the server began> <number of the question in hexadecimal digits> <name of the server>
package enum NoticePayload {
    /// PostgreSQL accepts less than 8,000 bytes in a notification.
    private static let bytesMax = 7_900

    /// Payloads that hold all notices in their order, each once. Of a record that fires a subscription more than once, each firing is
    /// told: the last one says whether the record is there.
    package static func encode(_ notices: [ServerNotice]) -> [String] {
        var payloads: [String] = []
        var current = ""
        var told: Set<ServerNotice> = []
        var last: [QueryNoticeSubject: QueryNotice] = [:]
        for notice in notices {
            if case .queryFired(let query) = notice {
                guard last.updateValue(query, forKey: query.subject) != query else { continue }
            } else {
                guard told.insert(notice).inserted else { continue }
            }
            let line = line(notice)
            if current.utf8.count + line.utf8.count > bytesMax {
                append(current, to: &payloads)
                current = ""
            }
            current += line
        }
        if !current.isEmpty { append(current, to: &payloads) }
        return payloads
    }

    /// NB: of equal payloads of one transaction PostgreSQL sends the first alone. Empty lines are passed over, and tell them apart.
    private static func append(_ payload: String, to payloads: inout [String]) {
        var payload = payload
        while payloads.contains(payload) { payload = "\n" + payload }
        payloads.append(payload)
    }

    private static func line(_ notice: ServerNotice) -> String {
        switch notice {
        case .zone(let zone):
            (zone.changesShares ? "s" : "z")
                + "\t\(zone.database.rawValue)\t\(Hex.encode(zone.life.bytes))\t\(zone.zoneName)\n"
        case .queryFired(let query):
            line(query)
        case .queriesChanged(let database):
            "w\t\(database.rawValue)\n"
        case .queriesLost(let database):
            "v\t\(database.rawValue)\n"
        case .queriesEvaluated(let changes):
            "e\t\(changes.database.rawValue)\t\(changes.part.after)\t\(changes.part.upTo)\n"
        case .credentialRevoked(let credential):
            "c\t\(credential.rawValue)\n"
        case .deviceRevoked(let revoked):
            "d\t\(revoked.account.rawValue)\t\(Hex.encode(revoked.device.bytes))\n"
        case .connectionsClosed(let account, let device):
            "x\t\(account.rawValue)\t\(device.map { Hex.encode($0.bytes) } ?? "")\n"
        case .containerClosed(let container):
            "k\t\(container.rawValue)\n"
        case .limitsChanged(let account):
            "l\t\(account?.rawValue ?? 0)\n"
        case .presence(let notice):
            PresencePayload.line(notice)
        case .devicesAsked(let question):
            "q\t\(question.account?.rawValue ?? 0)\t\(String(question.number, radix: 16))\n"
        case .devicesWritten(let answer):
            "a\t\(answer.serverSince.milliseconds)\t\(String(answer.question, radix: 16))\t\(answer.server)\n"
        }
    }

    /// IDs and record names are printable ASCII as well. A record without a name has an empty one.
    private static func line(_ query: QueryNotice) -> String {
        let subscriber = query.subscriber
        let parts = [
            "f", String(query.database.rawValue), String(subscriber.user.rawValue),
            String(subscriber.key.scope.rawValue), String(query.reason?.rawValue ?? 0), Hex.encode(query.maker.bytes),
            subscriber.key.id, query.record?.name ?? "", query.record?.zoneName ?? "",
        ]
        return parts.joined(separator: "\t") + "\n"
    }

    private static func query(_ database: DatabaseID, _ parts: [ArraySlice<UInt8>]) -> QueryNotice? {
        guard let user = Int64(text(parts[2])), let scope = Int16(text(parts[3])).flatMap(DatabaseScope.init),
            let reason = Int16(text(parts[4])), let bytes = Hex.decode(text(parts[5])),
            let maker = DeviceID(bytes: bytes)
        else { return nil }
        let name = text(parts[7])
        return QueryNotice(
            database: database,
            subscriber: SubscriberKey(user: UserID(user), key: Subscription.Key(scope: scope, id: text(parts[6]))),
            reason: QueryReason(rawValue: reason),
            record: name.isEmpty ? nil : QueryNotification.Record(name: name, zoneName: text(parts[8])), maker: maker)
    }

    /// Lines that cannot be parsed are skipped: a notice is a hint (I-4).
    package static func decode(_ payload: String) -> [ServerNotice] {
        // NB: split by bytes, not characters, which takes ten times as long. Every server reads every notice.
        Array(payload.utf8).split(separator: UInt8(ascii: "\n")).compactMap { line in
            let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
            guard parts.count >= 2, let id = Int64(text(parts[1])) else { return nil }
            let kind = text(parts[0])
            switch (kind, parts.count) {
            case ("p", _):
                return PresencePayload.notice(parts.map(text)).map { ServerNotice.presence($0) }
            case ("z", 4), ("s", 4):
                guard let bytes = Hex.decode(text(parts[2])), let life = DeviceID(bytes: bytes) else { return nil }
                return .zone(
                    ZoneNotice(
                        database: DatabaseID(id), life: life, zoneName: text(parts[3]), changesShares: kind == "s"))
            case ("f", 9):
                return query(DatabaseID(id), parts).map { .queryFired($0) }
            case ("w", 2):
                return .queriesChanged(DatabaseID(id))
            case ("v", 2):
                return .queriesLost(DatabaseID(id))
            case ("e", 4):
                guard let after = ChangeNumber(text(parts[2])), let upTo = ChangeNumber(text(parts[3])), after >= 0,
                    upTo > after
                else { return nil }
                return .queriesEvaluated(
                    EvaluatedChanges(database: DatabaseID(id), part: ChangeRanges.Part(after: after, upTo: upTo)))
            case ("c", 2):
                return .credentialRevoked(CredentialID(id))
            case ("k", 2):
                return .containerClosed(ContainerID(id))
            case ("d", 3):
                guard let bytes = Hex.decode(text(parts[2])), let device = DeviceID(bytes: bytes) else { return nil }
                return .deviceRevoked(AccountDevice(account: AccountID(id), device: device))
            case ("l", 2):
                return .limitsChanged(id == 0 ? nil : AccountID(id))
            case ("q", 3):
                guard let number = UInt64(text(parts[2]), radix: 16) else { return nil }
                return .devicesAsked(DeviceQuestion(number: number, account: id == 0 ? nil : AccountID(id)))
            case ("a", 4):
                guard let number = UInt64(text(parts[2]), radix: 16) else { return nil }
                return .devicesWritten(
                    DeviceAnswer(
                        question: number, server: text(parts[3]), serverSince: Timestamp(milliseconds: id)))
            case ("x", 3) where parts[2].isEmpty:
                return .connectionsClosed(AccountID(id), nil)
            case ("x", 3):
                guard let bytes = Hex.decode(text(parts[2])), let device = DeviceID(bytes: bytes) else { return nil }
                return .connectionsClosed(AccountID(id), device)
            default:
                return nil
            }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
