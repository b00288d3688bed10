// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkTestSupport
import TidemarkTransport

@testable import TidemarkServer

@Suite struct IssuersFileTests {
    private func read(_ text: String) throws(IssuersFile.Mistake) -> [Issuer] { try IssuersFile.read(Array(text.utf8)) }

    @Test func `R-920: a provider needs its issuer and an audience`() throws {
        let issuer = try #require(
            try read(#"[{"issuer": "https://login.example.org/realms/a/", "audience": "notes"}]"#).first)
        #expect(issuer.name == "https://login.example.org/realms/a/" && issuer.audiences == ["notes"])
        let address = try HTTPAddress("https://login.example.org/realms/a/.well-known/openid-configuration")
        #expect(issuer.keys == .discovered(address))
        #expect(issuer.algorithms == [.rs256, .es256, .edDSA] && !issuer.createsAccounts && issuer.accountPrefix == "")
        #expect(!issuer.trustsEmail && !issuer.trustsPhone && issuer.roles == nil && issuer.authorityFile == nil)
    }

    @Test func `R-920: each member is read`() throws {
        let issuers = try read(
            """
            [{"issuer": "accounts", "audience": ["a", "b"], "jwks": "https://keys.example.org:8443/k?x=1",
              "algorithms": "ES256", "create-accounts": true, "account-prefix": "example:", "trust-email": true,
              "trust-phone": true, "ca": "/etc/ca.pem",
              "roles": {"claim": ["realm_access", "roles"], "values": {"editors": "Editor"}, "containers": ["iCloud.a"]}},
             {"issuer": "other", "audience": "c", "jwks-file": "/etc/keys.json"}]
            """)
        let first = try #require(issuers.first)
        let address = try HTTPAddress("https://keys.example.org:8443/k?x=1")
        #expect(first.keys == .url(address))
        #expect(first.audiences == ["a", "b"] && first.algorithms == [.es256] && first.createsAccounts)
        #expect(first.accountPrefix == "example:" && first.trustsEmail && first.trustsPhone)
        #expect(first.authorityFile == "/etc/ca.pem")
        #expect(
            first.roles
                == Issuer.Roles(
                    claim: ["realm_access", "roles"], byValue: ["editors": "Editor"], containers: ["iCloud.a"]))
        #expect(issuers.count == 2 && issuers[1].keys == .file("/etc/keys.json"))
    }

    @Test(arguments: [
        ("", 1, "no JSON"), ("[", 1, "no JSON"), ("{}", 1, "list of providers"), ("[]", 1, "list of providers"),
        ("[1]", 1, "object"), ("[\n{\"issuer\": \"https://a\"}]", 2, "audience is missing"),
        ("[{\n\"audience\": \"a\"}]", 1, "issuer is missing"),
        ("[{\"issuer\": \"https://a\",\n\"audience\": []}]", 2, "audience must be"),
        ("[{\"issuer\": \"https://a\",\n\"audience\": [\"\"]}]", 2, "audience must be"),
        ("[{\"issuer\": \"https://a\",\n\"audience\": 1}]", 2, "audience must be"),
        ("[{\n\"issuer\": 1, \"audience\": \"a\"}]", 2, "issuer must be"),
        ("[{\n\"issuer\": \"login\", \"audience\": \"a\"}]", 2, "https URL"),
        ("[{\n\"issuer\": \"http://login.example.org\", \"audience\": \"a\"}]", 2, "this machine alone"),
        ("[{\"issuer\": \"a\", \"audience\": \"a\",\n\"jwks\": \"ftp://a\"}]", 2, "jwks must be"),
        ("[{\"issuer\": \"a\", \"audience\": \"a\", \"jwks\": \"https://a\",\n\"jwks-file\": \"f\"}]", 2, "left out"),
        (
            "[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"algorithms\": [\"HS256\"]}]", 2,
            "RS256, ES256 and EdDSA"
        ),
        ("[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"algorithms\": []}]", 2, "RS256, ES256 and EdDSA"),
        ("[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"algorithms\": [\"none\"]}]", 2, "algorithms must be"),
        ("[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"create-accounts\": 1}]", 2, "true or false"),
        (
            "[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"account-prefix\": \"a b\"}]", 2,
            "account-prefix must be"
        ),
        (
            "[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"account-prefix\": \"-a\"}]", 2,
            "account-prefix must be"
        ),
        ("[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"trust-mail\": true}]", 2, "Did you mean trust-email?"),
        ("[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"roles\": []}]", 2, "roles must be"),
        ("[{\"issuer\": \"https://a\", \"audience\": \"a\",\n\"roles\": {}}]", 2, "claim is missing"),
        (
            "[{\"issuer\": \"https://a\", \"audience\": \"a\", \"roles\": {\"claim\": \"g\", \"containers\": \"c\",\n"
                + "\"values\": {}}}]", 2, "values must be"
        ),
        (
            "[{\"issuer\": \"https://a\", \"audience\": \"a\"},\n{\"issuer\": \"https://a\", \"audience\": \"b\"}]", 2,
            "listed twice"
        ),
        ("[{\"issuer\": \"https://a\",\n\"issuer\": \"https://b\", \"audience\": \"a\"}]", 2, "a name twice"),
    ])
    func `R-920: a mistake is told with its line and what to write`(_ text: String, _ line: Int, _ part: String) {
        do throws(IssuersFile.Mistake) {
            let issuers = try read(text)
            Issue.record("\(issuers) was read")
        } catch {
            #expect(error.line == line && "\(error)".contains(part), "\(error)")
        }
    }

    @Test func `R-920: a file that is not there or too long is refused`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        #expect(throws: IssuersFile.Mistake.self) { try IssuersFile.load("\(directory.path)/none") }
        #expect(throws: IssuersFile.Mistake.self) { try IssuersFile.load(directory.path) }
    }

    @Test func `R-923: the name of a new account cannot be that of another by its form`() {
        let key = [UInt8](repeating: 0xAB, count: 33)
        let digits = String(repeating: "ab", count: 16)
        let cases: [(String, String, String, String)] = [
            ("", "42", "42", "42-\(digits)"), ("example:", "alice", "example:alice", "example:alice-\(digits)"),
            ("", "a b", "user-\(digits.prefix(16))", "user-\(digits)"),
            ("", "-a", "user-\(digits.prefix(16))", "user-\(digits)"), ("p-", "-a", "p--a", "p--a-\(digits)"),
            ("", "é", "user-\(digits.prefix(16))", "user-\(digits)"),
            ("", String(repeating: "s", count: 129), "user-\(digits.prefix(16))", "user-\(digits)"),
        ]
        for (prefix, subject, first, second) in cases {
            let names = NewAccountName.names(prefix: prefix, subject: subject, key: key)
            #expect(names.first == first && names.second == second)
        }
    }

    @Test func `R-921: nobody can show a credential with the key of an identity`() {
        let key = IdentityKey.bytes(issuer: "https://a", subject: "42")
        #expect(key.count == 33 && Credential.hash(key).count == 32)
        #expect(key != IdentityKey.bytes(issuer: "https://a4", subject: "2"))
        #expect(key != IdentityKey.bytes(issuer: "https://a", subject: "43"))
        #expect(key == IdentityKey.bytes(issuer: "https://a", subject: "42"))
    }
}
