// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto

@testable import TidemarkKit

@Suite struct DraftChecksumTests {
    private let content = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func checksum(of parts: [Range<Int>]) -> [UInt8] {
        let checksum = DraftChecksum()
        for part in parts { content[part].withUnsafeBytes { checksum.add($0, at: Int64(part.lowerBound)) } }
        return checksum.finish(with: Array(content.suffix(1)), at: Int64(content.count - 1))
    }

    @Test(arguments: [
        [0..<999], [0..<1, 1..<500, 500..<999], [0..<600, 100..<300, 300..<999, 700..<800], [0..<999, 0..<0],
    ])
    func `R-071: the checksum of a draft is the file's, also if some of it is read again after a cut`(
        parts: [Range<Int>]
    ) {
        #expect(checksum(of: parts) == Checksum.of(content))
    }

    @Test(arguments: [[1..<999], [0..<500, 501..<999], [0..<998], [0..<500, 600..<999, 500..<999], []])
    func `R-071: a draft of which something was never read has no checksum`(parts: [Range<Int>]) {
        #expect(checksum(of: parts) == [])
    }
}
