// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkServer

/// How many connections the limit of open files leaves.
@Suite struct ConnectionRoomTests {
    private func room(
        _ descriptors: Int, wanted: Int = 20_000, loops: Int = 2, assets: Bool = true, commands: Bool = false
    ) -> ConnectionRoom {
        ConnectionRoom(
            descriptors: descriptors, wanted: wanted, loopCount: loops, databaseConnections: 8, keepsAssets: assets,
            takesCommands: commands)
    }

    @Test func `R-721: descriptors for files and PostgreSQL are left when all connections are taken`() {
        for descriptors in [1_024, 4_096, 20_000, 65_536, 1_048_576] {
            for loops in 1...4 {
                let room = room(descriptors, loops: loops)
                #expect(room.connectionsMax == min(20_000, max(8, descriptors - room.reserve)))
                // Each loop: 8 for writing, 3 for reading, 5 for queries, 4 for reads of others' zones. The server: 512
                // uploads.
                #expect(room.reserve >= loops * (8 + 3 + 5 + 4) + 512 + 64)
            }
        }
        #expect(room(20_000, assets: false).reserve < room(20_000).reserve)
    }

    @Test func `R-881: devices leave descriptors for the channels and the commands of operators`() {
        // 256 channels, and eight commands with four connections to PostgreSQL at least.
        #expect(room(20_000, commands: true).reserve >= room(20_000).reserve + 256 + 8 * 4)
    }

    @Test func `R-721: an operator is warned if few connections are left, and not if few are wanted`() {
        #expect(room(1_024).isSmall && room(256).isSmall)
        #expect(!room(20_000).isSmall && !room(65_536).isSmall)
        #expect(!room(1_024, wanted: 100).isSmall)
    }
}
