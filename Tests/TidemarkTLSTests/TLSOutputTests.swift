// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkTLS

@Suite struct TLSOutputTests {
    @Test(arguments: 0..<12 as Range<UInt64>)
    func `whatever is appended comes out once and in order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var output = TLSOutput()
        var model: [UInt8] = []
        for step in 0..<300 {
            let count = Int.random(in: 0...(step.isMultiple(of: 20) ? 20_000 : 50), using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0, 1:
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ step) }
                bytes.withUnsafeBytes { output.append($0) }
                model += bytes
            case 2:
                output.reserve(count)
            case 3:
                output.discard(min(count, model.count))
                model.removeFirst(min(count, model.count))
            default:
                output.discard(model.count)
                model = []
            }
            #expect(output.count == model.count && output.isEmpty == model.isEmpty)
            #expect(output.withBytes { $0.elementsEqual(model) })
        }
    }

    @Test func `a long queue is not moved for every piece that comes and goes`() {
        var output = TLSOutput()
        [UInt8](repeating: 1, count: 4_000_000).withUnsafeBytes { output.append($0) }
        // Moving four megabytes for each of these would take minutes.
        for _ in 0..<50_000 {
            output.discard(4)
            [2, 3, 3, 3].withUnsafeBytes { output.append(UnsafeRawBufferPointer(rebasing: $0[..<4])) }
        }
        #expect(output.count == 4_000_000)
        #expect(output.capacity < 16_000_000)
    }

    @Test func `an emptied output holds no memory`() {
        var output = TLSOutput()
        output.reserve(1_000)
        #expect(output.capacity >= 1_000)
        [UInt8](repeating: 7, count: 600).withUnsafeBytes { output.append($0) }
        output.discard(599)
        #expect(output.capacity >= 1_000)
        output.discard(1)
        #expect(output.capacity == 0)
    }
}
