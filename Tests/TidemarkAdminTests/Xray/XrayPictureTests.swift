// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkAdmin

/// What `xray` makes of facts, without a store.
@Suite struct XrayPictureTests {
    private static func time(_ seconds: Int64) -> Timestamp { Timestamp(milliseconds: seconds * 1_000) }

    private func device(_ name: String, server: String? = nil, ended: Bool = false) -> DeviceFacts {
        var progress: DeviceProgress?
        if let server {
            progress = DeviceProgress()
            progress?.link = DeviceLink(
                server: server, since: Self.time(1), endedAt: ended ? Self.time(2) : nil, credential: CredentialID(1))
        }
        return DeviceFacts(
            device: DeviceID(high: 0x4B00_0000_0000_0001, low: 1), name: name, firstSeenAt: Self.time(0),
            lastSeenAt: Self.time(0), notedAt: server == nil ? nil : Self.time(5), progress: progress)
    }

    @Test func `R-854: findings for people are short lines, and names of devices break none`() {
        let findings = [
            XrayFinding(device: nil, finding: SyncFinding(.accountDisabled, "It is disabled.", "Enable it.")),
            XrayFinding(
                device: device("Ann's\n\u{1B}[2Jphone \u{202E}"), finding: SyncFinding(.throttled, "It waits.", "Wait.")
            ),
        ]
        #expect(
            XrayPicture.text(of: findings) == """
                all devices  account-disabled
                    It is disabled.
                    Enable it.
                4b000000  Ann's  [2Jphone    throttled
                    It waits.
                    Wait.


                """)
        #expect(XrayPicture.text(of: []).isEmpty)
    }

    @Test func `R-965: xray names servers that are gone or silent, with the age of what they noted of the account`() {
        var roll = ServerRoll(expecting: ["here/1", "mute/2"])
        roll.heard(DeviceAnswer(question: 1, server: "here/1", serverSince: Self.time(0)))
        var picture = XrayPicture()
        picture.devices = [
            device("a", server: "here/1"), device("b", server: "mute/2"), device("c", server: "dead/3"),
            device("d", server: "dead/4", ended: true), device("e"),
        ]
        #expect(
            picture.remarks(on: roll).texts(at: Self.time(65)) == [
                "mute/2 did not answer within 3 seconds. Its newest line is 1 min old.",
                "1 connection is of a server that died, or cannot reach the database: dead/3.",
            ])
    }
}
