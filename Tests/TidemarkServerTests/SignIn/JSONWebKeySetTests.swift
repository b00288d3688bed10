// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto

@testable import TidemarkServer

@Suite struct JSONWebKeySetTests {
    private static let ed = #""kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#

    private func count(_ keys: String...) -> Int? {
        try? JSONWebKeySet(Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8)).entries.count
    }

    @Test func `R-922: keys that can verify tokens are taken, and no others`() throws {
        let set = try JSONWebKeySet(TokenFixture.shared.keys)
        // The fixture also has a secret, an unknown type, a small key, one for encryption and one on another curve.
        #expect(set.entries.map(\.id) == ["rsa", "ec", "ed"])
        for (id, algorithm) in [("rsa", SignatureAlgorithm.rs256), ("ec", .es256), ("ed", .edDSA)] {
            #expect(set.candidates(id: id, algorithm).count == 1)
            #expect(set.candidates(id: nil, algorithm).count == 1)
            for other in SignatureAlgorithm.allCases where other != algorithm {
                #expect(set.candidates(id: id, other).isEmpty, "a key is of one algorithm")
            }
        }
        #expect(set.candidates(id: "RSA", .rs256).isEmpty && set.candidates(id: "", .rs256).isEmpty)
    }

    @Test(arguments: [
        ("", true), (#","use":"sig""#, true), (#","use":"enc""#, false), (#","use":1"#, false),
        (#","key_ops":["verify"]"#, true), (#","key_ops":["sign","verify"]"#, true), (#","key_ops":["sign"]"#, false),
        (#","key_ops":[]"#, false), (#","key_ops":"verify""#, false), (#","alg":"EdDSA""#, true),
        (#","alg":"Ed25519""#, true), (#","alg":"ES256""#, false), (#","alg":1"#, false), (#","kid":"a""#, true),
        (#","kid":1"#, false), (#","d":"AAAA""#, false), (#","x5c":["AAAA"]"#, true), (#","new":{}"#, true),
    ])
    func `R-922: what a key says of its use counts`(_ members: String, _ isTaken: Bool) {
        let other =
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#
        #expect(count(other, "{\(Self.ed)\(members)}") == (isTaken ? 2 : 1))
    }

    @Test func `R-922: a set that is none, too long or without a usable key is refused`() {
        func problem(_ text: String) -> JSONWebKeySet.Problem? {
            do throws(JSONWebKeySet.Problem) {
                _ = try JSONWebKeySet(Array(text.utf8))
                return nil
            } catch {
                return error
            }
        }
        for text in ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[}"#] { #expect(problem(text) == .malformed) }
        for text in [
            #"{"keys":[]}"#, #"{"keys":[1,null,"a",[]]}"#, #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA=="}]}"#,
        ] {
            #expect(problem(text) == .noKeys)
        }
        let many = [String](repeating: "{\(Self.ed)}", count: 101)
        #expect(problem("{\"keys\":[\(many.joined(separator: ","))]}") == .tooManyKeys)
        #expect(problem("{\"keys\":[\(many.dropLast().joined(separator: ","))]}") == nil)
        #expect(problem(String(repeating: " ", count: JSONWebKeySet.bytesMax + 1)) == .tooLong)
    }
}
