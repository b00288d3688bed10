// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkKit
import TidemarkTestSupport

/// How many requests an account may send, as an operator says it and an app meets it, with the real server.
@Suite(.timeLimit(.minutes(20))) struct RequestRateTests {
    /// Asks until a request is refused.
    private func refusal(_ database: CKDatabase, atMost count: Int) async throws -> CKError? {
        for _ in 0..<count {
            do {
                _ = try await database.allRecordZones()
            } catch let error as CKError where error.code == .requestRateLimited {
                return error
            }
        }
        return nil
    }

    @Test func `R-934, R-935, R-936: an operator's limit holds at once on open connections, and is told and shown`()
        async throws
    {
        try await OperatorPlace.with(["--requests-per-second", "1000"]) { place in
            let account = "alice"
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            let database = place.database()
            #expect(try await refusal(database, atMost: 20) == nil)
            let set = try await place.admin(
                "accounts", "set-limit", account, "--requests-per-second", "1", "--request-burst", "2")
            #expect(set.status == 0 && set.output.contains("1 requests a second (at once: 2)"), "\(set.output)")
            var found: CKError?
            try await eventually("the server has heard of it") {
                found = try await refusal(database, atMost: 5)
                return found != nil
            }
            let error = try #require(found)
            #expect(error.localizedDescription.contains("may send 1 requests a second (at once: 2)"))
            #expect((error.retryAfterSeconds ?? 0) > 0)
            let shown = try await place.admin("limits", "show", "--account", account, "-o", "json")
            #expect(shown.output.contains("\"limit\":\"requestsPerSecond of alice\",\"value\":1"), "\(shown.output)")
            #expect(shown.output.contains("\"source\":\"store\""))

            let unlimited = try await place.admin("accounts", "set-limit", account, "--requests-per-second", "none")
            #expect(unlimited.status == 0)
            // Another connection has heard of it when it is greeted.
            let later = place.database()
            #expect(try await refusal(later, atMost: 20) == nil)
            let back = try await place.admin("accounts", "set-limit", account, "--requests-per-second", "default")
            #expect(back.status == 0, "\(back.output)")
            // For all accounts, in place of the 1,000 that the server allows.
            let each = try await place.admin(
                "accounts", "set-limit", "--requests-per-second", "1", "--request-burst", "3")
            #expect(
                each.status == 0 && each.output.contains("Each account without a limit of its own"), "\(each.output)")
            try await eventually("the server has heard of that, on the same connection") {
                try await refusal(later, atMost: 6)?.localizedDescription.contains("(at once: 3)") == true
            }
            let ofEach = try await place.admin("limits", "show", "--account", account, "-o", "json")
            #expect(ofEach.output.contains("\"limit\":\"requestsPerSecond of alice\",\"value\":1,"), "\(ofEach.output)")
            let none = try await place.admin("accounts", "set-limit", "--requests-per-second", "none")
            #expect(none.status == 0, "\(none.output)")
            let container = try await place.admin(
                "containers", "set-limit", place.site.container, "--requests-per-second", "1", "--request-burst", "1")
            #expect(container.status == 0, "\(container.output)")
            let last = place.database()
            let ofContainer = try #require(try await refusal(last, atMost: 5))
            #expect(ofContainer.localizedDescription.contains("in this container"))
            let inContainer = try await place.admin(
                "limits", "show", "--account", account, "--container", place.site.container, "-o", "json")
            #expect(
                inContainer.output.contains("\"limit\":\"requestsPerSecond of alice in the container\",\"value\":1,"),
                "\(inContainer.output)")
        }
    }
}
