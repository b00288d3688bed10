// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTelemetry

@Suite struct LogTests {
    @Test func `a log that nobody listens to at its level makes no pairs`() {
        let log = Log("test")
        func expensive() -> String {
            Issue.record("made for a line that is not written")
            return ""
        }
        log.debug("quiet", ["key": expensive()])
        log.info("said to swift-log's default", ["key": "value"])
    }
}
