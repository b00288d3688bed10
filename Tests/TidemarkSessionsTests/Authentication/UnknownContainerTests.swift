// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkTelemetry
import TidemarkWire

/// What an operator reads in the log of containers that were made because they were named.
@Suite struct UnknownContainerTests {
    /// In a process of its own, because a process has one log.
    @Test func `R-014: a container that an account with others mistypes is in the log, with the nearest of its own`()
        async throws
    {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info)
            let world = SessionWorld()
            for (account, container) in [
                ("alice", "iCloud.org.example.notes"), ("alice", "iCloud.org.exmaple.notes"),
                // It is there by now.
                ("alice", "iCloud.org.exmaple.notes"),
                ("bob", "other"), ("bob", "iCloud.org.exapmle.notes"),
            ] {
                var hello = SessionWorld.hello(account)
                hello.container = container
                let answer = try world.connect().ask(.hello(hello))
                guard case .hello? = answer else { throw SessionWorld.Unexpected(answer) }
            }
        }
        let lines = String(decoding: process.standardErrorContent, as: UTF8.self).split(separator: "\n")
            .filter { $0.contains(" container created, ") }
        // The first container of an account is no news.
        try #require(lines.count == 2, "\(lines)")
        for line in lines {
            #expect(line.contains(" warning ") && line.contains(" environment=development"), "\(line)")
            // the names of devices are personal.
            #expect(line.contains(" account=") && !line.contains("device 1"), "\(line)")
        }
        #expect(lines[0].contains(" container=iCloud.org.exmaple.notes "), "\(lines[0])")
        #expect(lines[0].contains(" nearest=iCloud.org.example.notes"), "\(lines[0])")
        #expect(lines[1].contains(" container=iCloud.org.exapmle.notes "), "\(lines[1])")
        #expect(lines[1].contains(" nearest=none"), "nobody is told of another account's: \(lines[1])")
    }
}
