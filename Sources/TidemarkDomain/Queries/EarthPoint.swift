// SPDX-License-Identifier: Apache-2.0

/// A location as a point on the unit sphere: the form in which locations are indexed and compared.
///
/// The square of the chord between two points grows with their distance. It takes three subtractions, multiplications
/// and additions, so PostgreSQL's double precision gives exactly the same number on every machine. For the same reason
/// the sine of the coordinates is computed here, without a mathematics library.
package struct EarthPoint: Sendable, Hashable {
    /// Metres: the mean radius of the earth.
    package static let radius = 6_371_008.8

    /// Towards 0° N 0° E.
    package let x: Double
    /// Towards 0° N 90° E.
    package let y: Double
    /// Towards the north pole.
    package let z: Double

    /// From degrees. Nil if that is not a place: not finite, or beyond a pole.
    package init?(latitude: Double, longitude: Double) {
        guard latitude >= -90, latitude <= 90, longitude.isFinite else { return nil }
        let north = Degrees.sineAndCosine(latitude)
        let east = Degrees.sineAndCosine(longitude.truncatingRemainder(dividingBy: 360))
        x = Self.flushed(north.cosine * east.cosine)
        y = Self.flushed(north.cosine * east.sine)
        z = Self.flushed(north.sine)
    }

    /// 0 for anything nearer to it than 10⁻¹⁴⁰. If two of the remaining values differ, they differ by more than the
    /// square root of the smallest number. PostgreSQL reports an error for a product that underflows.
    private static func flushed(_ value: Double) -> Double { abs(value) < 1e-140 ? 0 : value }

    package init?(_ location: QueryLocation) {
        self.init(latitude: location.latitude, longitude: location.longitude)
    }

    /// Between 0 and 4, added in the order x, y, z.
    package func squaredChord(to other: EarthPoint) -> Double {
        let dx = x - other.x
        let dy = y - other.y
        let dz = z - other.z
        return dx * dx + dy * dy + dz * dz
    }

    /// The squared chord for a distance along the surface. Below 0 for a negative distance, so that no point is within
    /// it. Infinite for a distance that reaches around the earth.
    package static func squaredChord(metres: Double) -> Double {
        if metres < 0 { return -1 }
        let half = metres / (2 * radius) * (180 / Double.pi)
        guard half < 90 else { return .infinity }
        let sine = Degrees.sineAndCosine(half).sine
        return 4 * sine * sine
    }
}

private enum Degrees {
    /// For angles of up to a few turns. Exact at multiples of 90°, otherwise within two units in the last place.
    static func sineAndCosine(_ degrees: Double) -> (sine: Double, cosine: Double) {
        let quarters = (degrees / 90).rounded()
        let angle = (degrees - quarters * 90) * (Double.pi / 180)
        let (sine, cosine) = (sine(angle), cosine(angle))
        return switch Int(quarters) & 3 {
        case 0: (sine, cosine)
        case 1: (cosine, -sine)
        case 2: (-sine, -cosine)
        default: (-cosine, sine)
        }
    }

    /// Taylor's series, for angles up to π/4: the first term that is left out is below 10⁻¹⁹.
    private static func sine(_ angle: Double) -> Double {
        let square = angle * angle
        var sum = 1.0
        for factor in stride(from: 18.0, through: 2, by: -2) { sum = 1 - sum * square / (factor * (factor + 1)) }
        return angle * sum
    }

    private static func cosine(_ angle: Double) -> Double {
        let square = angle * angle
        var sum = 1.0
        for factor in stride(from: 18.0, through: 2, by: -2) { sum = 1 - sum * square / (factor * (factor - 1)) }
        return sum
    }
}
