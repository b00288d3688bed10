// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct IndexNumberTests {
    static let ascending: [IndexNumber] = [
        IndexNumber(-Double.infinity), IndexNumber(-1e300), IndexNumber(Int64.min), IndexNumber(Int64.min + 1),
        IndexNumber(-9.007199254740993e15), IndexNumber(Int64(-9_007_199_254_740_991)), IndexNumber(-1.5),
        IndexNumber(Int64(-1)), IndexNumber(-Double.leastNonzeroMagnitude), IndexNumber(Int64(0)),
        IndexNumber(Double.leastNonzeroMagnitude), IndexNumber(0.1),
        IndexNumber(Int64(1)), IndexNumber(Int64(9_007_199_254_740_992)), IndexNumber(Int64(9_007_199_254_740_993)),
        IndexNumber(9.007199254740994e15), IndexNumber(Int64.max - 1), IndexNumber(Int64.max),
        IndexNumber(9.223372036854775808e18), IndexNumber(Double.infinity), IndexNumber(Double.nan),
    ]

    @Test func `R-062: integers and doubles have one exact order`() {
        for (left, first) in Self.ascending.enumerated() {
            for (right, second) in Self.ascending.enumerated() {
                #expect((first < second) == (left < right), "\(first) \(second)")
                #expect((first == second) == (left == right), "\(first) \(second)")
                if left == right { #expect(first.hashValue == second.hashValue) }
            }
            #expect(IndexNumber(rounded: first.rounded, remainder: first.remainder) == first)
        }
        #expect(IndexNumber(-0.0) == IndexNumber(Int64(0)))
        #expect(IndexNumber(-0.0).hashValue == IndexNumber(0.0).hashValue)
        #expect(IndexNumber(-Double.nan) == IndexNumber(Double.nan))
        #expect(IndexNumber(rounded: 0.5, remainder: 1) == nil)
        #expect(IndexNumber(rounded: 8, remainder: 1) == nil)
        #expect(IndexNumber(rounded: 9.2e18, remainder: 1_024) == nil)
    }

    @Test func `integers compare as integers, near the limits of doubles too`() {
        var random = SeededRandom()
        for _ in 0..<5_000 {
            let base = Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0...63, using: &random)
            let other = base.addingReportingOverflow(Int64.random(in: -3...3, using: &random))
            guard !other.overflow else { continue }
            #expect((IndexNumber(base) < IndexNumber(other.partialValue)) == (base < other.partialValue), "\(base)")
            #expect((IndexNumber(base) == IndexNumber(other.partialValue)) == (base == other.partialValue), "\(base)")
        }
    }
}

@Suite struct EarthPointTests {
    private static func haversine(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
        let r = Double.pi / 180
        let h = pow(sin((b.0 - a.0) * r / 2), 2) + cos(a.0 * r) * cos(b.0 * r) * pow(sin((b.1 - a.1) * r / 2), 2)
        return 2 * EarthPoint.radius * asin(min(1, h.squareRoot()))
    }

    @Test func `R-181: the chord is that of the great circle`() throws {
        var random = SeededRandom()
        for _ in 0..<3_000 {
            let a = (Double.random(in: -90...90, using: &random), Double.random(in: -180...180, using: &random))
            let spread = pow(10, Double.random(in: -5...1, using: &random))
            let b = (
                min(90, max(-90, a.0 + Double.random(in: -spread...spread, using: &random))),
                a.1 + Double.random(in: -spread...spread, using: &random) * 10
            )
            let distance = Self.haversine(a, b)
            let first = try #require(EarthPoint(latitude: a.0, longitude: a.1))
            let second = try #require(EarthPoint(latitude: b.0, longitude: b.1))
            let chord = first.squaredChord(to: second)
            #expect(chord <= EarthPoint.squaredChord(metres: distance * (1 + 1e-9) + 1e-6), "seed \(random.seed)")
            #expect(
                chord >= EarthPoint.squaredChord(metres: max(0, distance * (1 - 1e-9) - 1e-6)), "seed \(random.seed)")
            #expect(chord == second.squaredChord(to: first))
        }
    }

    @Test func `poles, the date line and the other side of the earth`() throws {
        let pole = try #require(EarthPoint(latitude: 90, longitude: 0))
        let samePole = try #require(EarthPoint(latitude: 90, longitude: 123))
        #expect(pole.squaredChord(to: samePole) == 0)
        let east = try #require(EarthPoint(latitude: 0, longitude: 180))
        let west = try #require(EarthPoint(latitude: 0, longitude: -180))
        #expect(east.squaredChord(to: west) == 0)
        #expect(pole.squaredChord(to: try #require(EarthPoint(latitude: -90, longitude: 0))) == 4)
        #expect(EarthPoint.squaredChord(metres: 0) == 0)
        #expect(EarthPoint.squaredChord(metres: -1) < 0)
        #expect(EarthPoint.squaredChord(metres: 3e7) == .infinity)
        for (latitude, longitude) in [(90.1, 0), (-91, 0), (.nan, 0), (0, .nan), (0, .infinity)] as [(Double, Double)] {
            #expect(EarthPoint(latitude: latitude, longitude: longitude) == nil)
        }
    }
}
