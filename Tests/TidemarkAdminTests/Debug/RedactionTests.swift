// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct RedactionTests {
    private static let secret = "s3cr3t-Pa55"

    @Test(arguments: [
        "postgresql://tidemark:s3cr3t-Pa55@db:5432/tidemark?sslmode=require",
        "postgresql://tidemark:s3cr3t-Pa55@x@db/tidemark", "host=db password=s3cr3t-Pa55 user=tidemark",
        "host=db password='s3cr3t-Pa55 and more' user=x", "PGPASSWORD=s3cr3t-Pa55", "PASSWORD: s3cr3t-Pa55",
        "{\"password\":\"s3cr3t-Pa55\",\"user\":\"x\"}", "token=s3cr3t-Pa55&x=1", "Authorization: Bearer s3cr3t-Pa55",
        "sent Bearer s3cr3t-Pa55 to x", "TIDEMARK_TOKEN=tidemark_s3cr3t-Pa55", "credential tidemark_s3cr3t-Pa55 shown",
        "api_key = s3cr3t-Pa55", "-----BEGIN PRIVATE KEY-----\ns3cr3t-Pa55\n-----END PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\ns3cr3t-Pa55", #"{\"password\":\"s3cr3t-Pa55\"}"#,
        #"password="a\"s3cr3t-Pa55""#,
        #"{\"a\":\"{\\\"token\\\":\\\"s3cr3t-Pa55\\\"}\"}"#, "db_passphrase=s3cr3t-Pa55", "MASTER_KEY: s3cr3t-Pa55",
        "accessTokens = s3cr3t-Pa55", "db.password=s3cr3t-Pa55", "clientSecret2='s3cr3t-Pa55'",
    ])
    func `R-871: a planted secret does not come out`(_ text: String) {
        let redacted = Redaction.text(text)
        #expect(!redacted.contains(Self.secret), "\(redacted)")
        #expect(redacted.contains(Redaction.mark))
    }

    @Test(arguments: ["\n", "\r\n", #"\n"#])
    func `R-871: the end of a private key does not come out without its beginning`(_ lineEnd: String) {
        let text = "MIIEvQIBADAN+/=\(lineEnd)BgkqhkiG\(lineEnd)-----END PRIVATE KEY-----\ninfo started"
        #expect(Redaction.text(text) == "\(Redaction.mark)\ninfo started")
        let later = Redaction.text("first: 1\n\(text)\n\(text)")
        #expect(!later.contains("BgkqhkiG") && later.hasPrefix("first:") && later.hasSuffix("info started"))
    }

    @Test func `R-871: of a log's end the first line is left out, because it may be half a secret`() {
        #expect(Redaction.wholeLines(ofEnd: "Pa55\r\ninfo one\ninfo two\n") == "info one\ninfo two\n")
        #expect(Redaction.wholeLines(ofEnd: "s3cr3t-Pa55") == "")
    }

    @Test func `R-871: a master key does not come out`() {
        let key = String(repeating: "0aF9", count: 16)
        #expect(Redaction.text("key \(key)\n") == "key \(Redaction.mark)\n")
    }

    @Test(arguments: [
        "", "2026-01-01T10:00:00Z info listening address=127.0.0.1:8443", "https://example.org:8443/path",
        "user@example.org wrote to bob@example.org", "the password was wrong", "5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a",
    ])
    func `R-871: what is no secret stays as it is`(_ text: String) {
        #expect(Redaction.text(text) == text)
    }
}
