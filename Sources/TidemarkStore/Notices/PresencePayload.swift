// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkService

/// A notice of presence as a line of ``NoticePayload``:
///
///     p <database> <zone> <share, or 0> <server> <1 if it asks, or 0> <members told> <XOR of their numbers> [<item> …]
///
/// An item is one of these, with spaces between values. Numbers of members, texts and states are hexadecimal digits.
///
///     m <member> <user> <name> <state>
///     t <member> <user> <name> <content of a message>
///     g <member that is gone>
enum PresencePayload {
    /// The first values of the line, before the items.
    private static let headCount = 8

    static func line(_ notice: PresenceNotice) -> String {
        var parts = [
            "p", "\(notice.database.rawValue)", "\(notice.place.zone.rawValue)",
            "\(notice.place.share?.rawValue ?? 0)", String(notice.origin, radix: 16), notice.asks ? "1" : "0",
            "\(notice.told.count)", String(notice.told.digest, radix: 16),
        ]
        func item(_ kind: String, _ number: UInt64, _ user: UserID, _ name: String, _ bytes: [UInt8]) -> String {
            "\(kind) \(String(number, radix: 16)) \(user.rawValue) \(Hex.encode(Array(name.utf8))) \(Hex.encode(bytes))"
        }
        parts += notice.news.members.map { item("m", $0.number, $0.user, $0.userName, $0.state) }
        parts += notice.news.messages.map { item("t", $0.member, $0.user, $0.userName, $0.content) }
        parts += notice.news.gone.map { "g \(String($0, radix: 16))" }
        return parts.joined(separator: "\t") + "\n"
    }

    /// - Parameter parts: the values of a line that begins with `p`.
    /// - Returns: nil if they are none. Items that cannot be parsed are skipped.
    static func notice(_ parts: [String]) -> PresenceNotice? {
        guard parts.count >= headCount, let database = Int64(parts[1]), let zone = Int64(parts[2]),
            let share = Int64(parts[3]), let origin = UInt64(parts[4], radix: 16),
            let count = Int(parts[6]), count >= 0, let digest = UInt64(parts[7], radix: 16)
        else { return nil }
        var news = PresenceNews()
        for part in parts.dropFirst(headCount) {
            let values = part.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            guard values.count >= 2, let number = UInt64(values[1], radix: 16) else { continue }
            if values[0] == "g" { news.gone.append(number) }
            guard values.count == 5, let user = Int64(values[2]), let name = Hex.decode(values[3]),
                let bytes = Hex.decode(values[4])
            else { continue }
            let userName = String(decoding: name, as: UTF8.self)
            if values[0] == "m" {
                news.members.append(
                    PresenceMember(number: number, user: UserID(user), userName: userName, state: bytes))
            } else if values[0] == "t" {
                news.messages.append(
                    PresenceMessage(member: number, user: UserID(user), userName: userName, content: bytes))
            }
        }
        let place = PresencePlace(zone: ZoneID(zone), share: share == 0 ? nil : ShareNumber(share))
        return PresenceNotice(
            database: DatabaseID(database), place: place, origin: origin, asks: parts[5] == "1",
            told: PresenceTally(count: count, digest: digest), news: news)
    }
}
