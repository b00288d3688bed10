// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct DeviceFileTests {
    private func file(_ directory: TestDirectory, server: String = "wss://a.example") throws -> DeviceFile {
        let credentials = URL(fileURLWithPath: "\(directory.path)/credentials.json")
        let configuration = TidemarkConfiguration(url: URL(string: server), token: "t", credentialFile: credentials)
        return try #require(DeviceFile(configuration, containerIdentifier: "iCloud.test"))
    }

    @Test func `R-867: a device has the same identity at each start, and another at another server`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let first = try #require(try file(directory).take())
        #expect(first.count == 16)
        // The process ends, and another begins.
        try file(directory).giveBack()
        #expect(try file(directory).take() == first)
        let other = try #require(try file(directory, server: "wss://b.example").take())
        #expect(other != first)
    }

    @Test func `R-867: two devices of one process have two identities`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let first = try file(directory).take()
        #expect(try file(directory).take() == nil)
        try file(directory).giveBack()
        #expect(try file(directory).take() == first)
    }

    @Test func `R-867: where nothing can be written there is an identity all the same`() throws {
        let configuration = TidemarkConfiguration(
            url: URL(string: "wss://c.example"), token: "t", credentialFile: URL(fileURLWithPath: "/proc/none/c.json"))
        let file = try #require(DeviceFile(configuration, containerIdentifier: "iCloud.test"))
        #expect(file.take()?.count == 16)
        let nowhere = TidemarkConfiguration(url: nil)
        #expect(DeviceFile(nowhere, containerIdentifier: "iCloud.test") == nil)
    }

    @Test func `R-867: the file keeps a bounded number of identities`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        for number in 0..<100 { _ = try file(directory, server: "wss://\(number).example").take() }
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/devices.json"))
        #expect(try JSONDecoder().decode([String: Data].self, from: data).count <= 64)
    }
}
