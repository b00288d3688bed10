// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkTelemetry
import TidemarkTranslation
import TidemarkWire

@testable import TidemarkSessions

/// What the log says of `Hello`s. Each test has a process of its own, because a process has one log.
@Suite struct ConnectionReportsTests {
    /// Three devices with an unknown credential, and two accounts with a container each.
    private static func happen() throws {
        let world = SessionWorld()
        for device in UInt64(1)...3 {
            let client = world.connect()
            _ = try client.ask(.hello(SessionWorld.hello("mallory", device: device)))
            guard client.closeCode == 4401 else { throw SessionWorld.Unexpected(client.inbox.last?.answer) }
        }
        for account in ["alice", "bob"] {
            var hello = SessionWorld.hello(account)
            hello.container = "first.of.\(account)"
            _ = try world.connect().ask(.hello(hello))
        }
        FailureLog.shared.end()
    }

    private static func lines(_ bytes: [UInt8], _ text: String) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { $0.contains(" \(text) ") }
    }

    @Test func `R-822, R-823: refusals and new containers are one line and a count, say what to do, and name nobody`()
        async throws
    {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            try ConnectionReportsTests.happen()
        }
        let refused = Self.lines(process.standardErrorContent, "a device was refused")
        try #require(refused.count == 2, "\(refused)")
        #expect(refused[0].contains(" info ") && refused[0].contains("unknown, expired or revoked"), "\(refused)")
        #expect(refused[0].contains("tidemark admin credentials create") && refused[0].contains(" request="))
        #expect(refused[1].contains(" repeats=2 "), "\(refused)")
        let created = Self.lines(process.standardErrorContent, "a container was created")
        try #require(created.count == 2, "\(created)")
        #expect(created[0].contains("container=first.of.alice") && created[0].contains("--create-containers"))
        #expect(created[1].contains(" repeats=1 "), "\(created)")
        let all = String(decoding: process.standardErrorContent, as: UTF8.self)
        #expect(!all.contains("device 1") && !all.contains("mallory") && !all.contains("address="))
    }

    @Test func `R-823: a verbose log has a line for each, with the device and its address`() async throws {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .warning, isVerbose: true)
            try ConnectionReportsTests.happen()
        }
        let refused = Self.lines(process.standardErrorContent, "a device was refused")
        #expect(refused.count == 3 && refused.allSatisfy { $0.contains(" debug ") }, "\(refused)")
        for (number, line) in refused.enumerated() {
            #expect(line.contains("device=\"device \(number + 1)\"") && line.contains("address=none"), "\(line)")
            #expect(line.contains("tidemark admin credentials create") && line.contains(" request="), "\(line)")
            #expect(!line.contains("mallory"), "a credential is a secret: \(line)")
        }
        let created = Self.lines(process.standardErrorContent, "a container was created")
        #expect(created.count == 2 && created.allSatisfy { $0.contains("--create-containers") }, "\(created)")
    }

    @Test func `R-823: the log says why a token, an account or a device is refused, and where to look`() {
        typealias Refused = ConnectionReports.Refused
        func refused(_ problem: SignInProblem, _ text: String? = nil) -> Refused {
            Refused(Refusal(.notAuthenticated, text ?? problem.text, problem: problem))
        }
        let texts: [(Refused, String, String)] = [
            (refused(.tokenInvalid, "The token's signature is wrong."), "signature is wrong", "--issuers"),
            (refused(.credentialExpired, "The token has expired."), "The token has expired.", "--issuers"),
            (refused(.identityUnknown), "no account", "tidemark admin identities create"),
            (refused(.accountDisabled), "disabled", "tidemark admin accounts enable"),
            (refused(.deviceRevoked), "revoked", "tidemark admin devices delete"),
        ]
        for (refused, cause, advice) in texts {
            #expect(refused.cause.contains(cause) && refused.advice.contains(advice), "\(refused)")
        }
        #expect(Set(texts.map(\.0.cause)).count == texts.count, "each has a line of its own")
        for problem in [SignInProblem.credentialUnknown, .credentialExpired, .credentialRevoked] {
            #expect(refused(problem) == .credential)
        }
        #expect(Refused(Refusal(.notAuthenticated)) == .credential)
    }
}
