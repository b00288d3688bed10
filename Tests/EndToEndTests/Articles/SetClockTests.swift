// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// Clocks that are put wrong, or right, while devices are connected or between two runs of their apps.
@Suite struct SetClockTests {
    private static let hour = 3_600.0
    private static let jumps = [2 * hour, -2 * hour, 25 * hour, -25 * hour, 8_760 * hour, -8_760 * hour]

    private let cloud = TestCloud()
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func notes(on device: TestDevice) async throws -> Notes {
        let notes = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent("\(device.name).json"))
        await notes.start(in: device.container.privateCloudDatabase)
        return notes
    }

    private func set(ahead seconds: Double) { cloud.clock.set(to: cloud.clock.now + seconds) }

    /// One device writes, and the other one has it.
    private func write(_ text: String, _ phone: Notes, _ laptop: Notes) async throws {
        try await phone.write(text, to: "shopping")
        try await cloud.settle()
        #expect(await laptop.library.notes["shopping"]?.text == text)
        #expect(await phone.library.replica.unsentIDs == [])
    }

    @Test(arguments: jumps)
    func `R-157: a clock that is set while devices are connected refuses no edit`(_ jump: Double) async throws {
        let alice = cloud.account("alice")
        let (phone, laptop) = (
            try await notes(on: alice.device("phone")), try await notes(on: alice.device("laptop"))
        )
        try await write("milk", phone, laptop)
        set(ahead: jump)
        try await write("bread", phone, laptop)
        try await write("eggs", laptop, phone)
        set(ahead: -jump)
        try await write("butter", phone, laptop)
        try await write("jam", laptop, phone)
    }

    @Test(arguments: jumps)
    func `R-157: a clock that was wrong for one edit refuses none after the app starts again`(
        _ jump: Double
    ) async throws {
        let alice = cloud.account("alice")
        let laptop = try await notes(on: alice.device("laptop"))
        let device = alice.device("phone")
        try await write("milk", notes(on: device), laptop)
        set(ahead: jump)
        cloud.restartServer()
        try await write("bread", notes(on: device), laptop)
        set(ahead: -jump)
        cloud.restartServer()
        let phone = try await notes(on: device)
        for text in ["eggs", "butter"] { try await write(text, phone, laptop) }
    }

    @Test(arguments: jumps)
    func `R-157: a lost answer is found again, whatever the clock says by then`(_ jump: Double) async throws {
        let alice = cloud.account("alice")
        let device = alice.device("phone")
        let (phone, laptop) = (try await notes(on: device), try await notes(on: alice.device("laptop")))
        try await write("milk", phone, laptop)
        device.loseNextAnswer()
        try await phone.write("bread", to: "shopping")
        set(ahead: jump)
        try await write("eggs", phone, laptop)
        try await write("jam", laptop, phone)
    }
}
