// SPDX-License-Identifier: Apache-2.0

/// Degrees of latitude or longitude.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
/// Metres.
public typealias CLLocationAccuracy = Double
/// Degrees from true north.
public typealias CLLocationDirection = Double
/// Metres per second.
public typealias CLLocationSpeed = Double

/// Latitude and longitude, in degrees.
public struct CLLocationCoordinate2D: Sendable {
    /// -90 to 90, positive to the north.
    public var latitude: CLLocationDegrees
    /// -180 to 180, positive to the east.
    public var longitude: CLLocationDegrees

    /// Zero and zero.
    public init() {
        self.init(latitude: 0, longitude: 0)
    }

    /// A coordinate.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An invalid coordinate.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// A coordinate.
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether the place exists on earth.
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coordinate.latitude) && (-180...180).contains(coordinate.longitude)
}
