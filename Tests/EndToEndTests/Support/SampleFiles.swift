// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Files with any content, in a directory of the test's.
struct SampleFiles: Sendable {
    let path: String

    /// A file of so many bytes that look random and are the same for the same seed.
    func make(_ byteCount: Int, seed: UInt64 = 1) throws -> URL {
        var state = seed &+ 0x9E37_79B9_7F4A_7C15
        var data = Data(count: byteCount)
        data.withUnsafeMutableBytes { bytes in
            for index in bytes.indices {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[index] = UInt8(truncatingIfNeeded: state >> 56)
            }
        }
        let url = URL(fileURLWithPath: "\(path)/\(UUID().uuidString)")
        try data.write(to: url)
        return url
    }
}
