// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes

/// `Tests/Fixtures/Tokens.json`: tokens and keys that other libraries have made (`tokens.py` beside it).
struct TokenFixture: Sendable {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let token: [UInt8]
        let verdict: String

        var testDescription: String { name }
    }

    /// Milliseconds: when the tokens are shown.
    let now: Int64
    let issuer: String
    let audience: String
    /// The issuer's keys as it publishes them, and those after a rotation.
    let keys: [UInt8]
    let rotated: [UInt8]
    let cases: [Case]

    static let shared: TokenFixture = {
        do { return try TokenFixture() } catch { preconditionFailure("Tests/Fixtures/Tokens.json: \(error)") }
    }()

    private init() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/Tokens.json").standardizedFileURL
        let bytes = [UInt8](try Data(contentsOf: url))
        let object = try #require(try JSONReader.read(bytes).object)
        now = Int64(try #require(object["now"]?.number)) * 1_000
        issuer = try #require(object["issuer"]?.text)
        audience = try #require(object["audience"]?.text)
        cases = try #require(object["tokens"]?.list).map { value in
            let entry = try #require(value.object)
            return Case(
                name: try #require(entry["name"]?.text), token: Array(try #require(entry["token"]?.text).utf8),
                verdict: try #require(entry["verdict"]?.text))
        }
        let whole = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        keys = [UInt8](try JSONSerialization.data(withJSONObject: try #require(whole["keys"])))
        rotated = [UInt8](try JSONSerialization.data(withJSONObject: try #require(whole["rotated"])))
    }

    func token(_ name: String) throws -> [UInt8] { try #require(cases.first { $0.name == name }).token }
}
