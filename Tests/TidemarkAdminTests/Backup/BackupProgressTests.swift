// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct BackupProgressTests {
    @Test(
        arguments: [
            (0, nil, 0, "Copying: 0 bytes"), (5_000_000, nil, 2, "Copying: 5.0 MB, 2.5 MB per second"),
            (1_000, 4_000, 0.5, "Copying: 1.0 kB of 4.0 kB"),
            (1_000, 4_000, 2, "Copying: 1.0 kB of 4.0 kB, 500 bytes per second, 6 s left"),
            (1_000, 1_000_000, 2, "Copying: 1.0 kB of 1.0 MB, 500 bytes per second, 34 min left"),
            (0, 4_000, 2, "Copying: 0 bytes of 4.0 kB, 0 bytes per second"),
            // More than was expected, and all of it.
            (4_000, 1_000, 2, "Copying: 4.0 kB of 4.0 kB, 2.0 kB per second"),
            (4_000, 4_000, 2, "Copying: 4.0 kB of 4.0 kB, 2.0 kB per second"),
        ] as [(Int64, Int64?, Double, String)])
    func `R-950: progress says how much is done, how fast, and how long it takes`(
        _ done: Int64, _ all: Int64?, _ seconds: Double, _ text: String
    ) {
        #expect(BackupProgress.text("Copying", done, of: all, seconds: seconds) == text)
    }
}
