// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

@Suite struct HelloTranslationTests {
    @Test func `R-355: a hello names container, credential and device`() throws {
        let greeting = try Greeting(Examples.hello)
        #expect(greeting.container == "iCloud.dev.tidemark")
        #expect(greeting.environment == .development)
        #expect(greeting.credential == Array("secret".utf8))
        #expect(greeting.device == Examples.device)
        #expect(greeting.shownName == "laptop (foldersync/1.0)")
    }

    @Test func `R-006: no credential is nobody`() throws {
        var hello = Examples.hello
        hello.credential = ""
        #expect(try Greeting(hello).credential == nil)
    }

    @Test func `R-012: the environment is development unless it says otherwise`() throws {
        var hello = Examples.hello
        hello.environment = .unspecified
        #expect(try Greeting(hello).environment == .development)
        hello.environment = .production
        #expect(try Greeting(hello).environment == .production)
    }

    @Test func `a hello that cannot be read is refused`() {
        let cases: [(String, FailureReason, (inout WireHello) -> Void)] = [
            ("no container", .containerUnknown, { $0.container = "" }),
            ("long container", .containerUnknown, { $0.container = String(repeating: "c", count: 256) }),
            ("container with a zero", .containerUnknown, { $0.container = "a\0b" }),
            ("no device", .requestInvalid, { $0.device = [] }),
            ("short device", .requestInvalid, { $0.device = [UInt8](repeating: 1, count: 15) }),
            ("long device", .requestInvalid, { $0.device = [UInt8](repeating: 1, count: 17) }),
            ("unknown environment", .requestInvalid, { $0.environment = .unrecognized(9) }),
            ("long credential", .notAuthenticated, { $0.credential = String(repeating: "c", count: 17_000) }),
        ]
        for (name, reason, change) in cases {
            var hello = Examples.hello
            change(&hello)
            do {
                _ = try Greeting(hello)
                Issue.record("not refused: \(name)")
            } catch {
                #expect(error.code == reason, "\(name)")
            }
        }
    }

    @Test func `names for operators are cut and cleaned, never refused`() throws {
        var hello = Examples.hello
        hello.clientName = ""
        hello.deviceName = "a\0b\n" + String(repeating: "x", count: 1_000)
        #expect(try Greeting(hello).shownName == "ab" + String(repeating: "x", count: 253))
    }
}
