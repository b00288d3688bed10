// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// The program ExitHost uses OpenSSL after all exit handlers.
@Suite struct ProcessExitTests {
    @Test func `R-404: a program may exit while connections are at work`() async throws {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = URL(fileURLWithPath: bundle).deletingLastPathComponent().appending(path: "ExitHost")
        let process = Process()
        process.executableURL = program
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }
}
