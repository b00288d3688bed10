// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkBytes
import TidemarkWire

/// Looks in each byte that a user is sent for names of records that were never visible to them.
struct NameWatch {
    private static let mark = Array("secret-".utf8)
    private static let digitCount = 6

    /// By user: what they have seen.
    private var known: [String: Set<String>] = [:]

    /// All of one length, so that none is a part of another.
    static func name(_ number: Int) -> String {
        let digits = String(number)
        return "secret-" + String(repeating: "0", count: digitCount - digits.count) + digits
    }

    mutating func learn(_ model: NaiveHierarchies, _ people: [String]) {
        for person in people { known[person, default: []].formUnion(model.visible(to: person)) }
    }

    /// A name in what the client was sent that its user must not know; nil if there is none. The owner may know all. The
    /// client forgets what it was sent.
    func secret(in client: TestClient, of person: String) -> String? {
        defer { client.forgetInbox() }
        guard person != NaiveHierarchies.owner else { return nil }
        let known = known[person] ?? []
        for envelope in client.inbox {
            if let name = Self.names(in: envelope.encoded).first(where: { !known.contains($0) }) { return name }
        }
        return nil
    }

    static func names(in bytes: [UInt8]) -> [String] {
        var names: [String] = []
        var index = 0
        while index + mark.count + digitCount <= bytes.count {
            guard bytes[index] == mark[0], bytes[index..<index + mark.count].elementsEqual(mark) else {
                index += 1
                continue
            }
            names.append(String(decoding: bytes[index..<index + mark.count + digitCount], as: UTF8.self))
            index += mark.count + digitCount
        }
        return names
    }
}
