// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTelemetry

/// What a process writes. Each test has a process of its own, because a process has one log.
@Suite struct StandardErrorLogHandlerTests {
    @Test func `R-821: with json each line is an object with time, level, label and message`() async throws {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .info, format: .json)
            let log = Log("server")
            log.debug("not written")
            log.info("serving", ["address": "127.0.0.1:8443", "tls": "true"])
            log.warning("two\nlines", ["why": "say \"x\""])
        }
        let lines = String(decoding: process.standardErrorContent, as: UTF8.self).split(separator: "\n")
        let objects = try lines.map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
        try #require(objects.count == 2, "\(lines)")
        #expect(lines[0].hasPrefix("{\"time\":\"2"))
        #expect(
            lines[0].hasSuffix(
                "\"level\":\"info\",\"label\":\"tidemark.server\",\"message\":\"serving\","
                    + "\"address\":\"127.0.0.1:8443\",\"tls\":\"true\"}"))
        #expect(objects[1]["message"] == "two\nlines" && objects[1]["why"] == "say \"x\"")
        #expect(objects[1]["level"] == "warning")
    }

    @Test func `R-823: a verbose log tells of connections at debug, and of nothing else`() async throws {
        let process = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            Log.writeToStandardError(level: .warning, isVerbose: true)
            Log(Log.connectionsLabel).debug("told", ["key": "two words"])
            Log("server").debug("not told")
            Log("server").info("not told")
            Log("server").warning("told as well")
        }
        let lines = String(decoding: process.standardErrorContent, as: UTF8.self).split(separator: "\n")
            .map { $0.split(separator: " ", maxSplits: 1).last ?? "" }
        #expect(lines == ["debug told key=\"two words\"", "warning told as well"])
    }
}
