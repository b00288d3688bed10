// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A measured place on earth, for platforms without Core Location.
public class CLLocation: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The coordinate of the place.
    public let coordinate: CLLocationCoordinate2D
    /// Metres above sea level.
    public let altitude: CLLocationDistance
    /// Metres; negative if the coordinate is not valid.
    public let horizontalAccuracy: CLLocationAccuracy
    /// Metres; negative if the altitude is not valid.
    public let verticalAccuracy: CLLocationAccuracy
    /// Degrees from true north; negative if unknown.
    public let course: CLLocationDirection
    /// Metres per second; negative if unknown.
    public let speed: CLLocationSpeed
    /// When it was measured.
    public let timestamp: Date

    /// A place, measured now, with no other data.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    }

    /// A measured place, with course and speed unknown.
    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    /// A measured place.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
        super.init()
    }

    /// The distance to the other place along the surface, in metres, on a sphere with the earth's mean radius. Core
    /// Location's result differs by up to half a per cent.
    public func distance(from location: CLLocation) -> CLLocationDistance {
        let radians = Double.pi / 180
        let latitude = coordinate.latitude * radians
        let otherLatitude = location.coordinate.latitude * radians
        let height = sin((otherLatitude - latitude) / 2)
        let width = sin((location.coordinate.longitude - coordinate.longitude) * radians / 2)
        let haversine = height * height + cos(latitude) * cos(otherLatitude) * width * width
        return 2 * 6_371_008.8 * asin(min(1, haversine.squareRoot()))
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a location.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: "Latitude"), coder.containsValue(forKey: "Longitude") else { return nil }
        coordinate = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: "Latitude"), longitude: coder.decodeDouble(forKey: "Longitude"))
        altitude = coder.decodeDouble(forKey: "Altitude")
        horizontalAccuracy = coder.decodeDouble(forKey: "HorizontalAccuracy")
        verticalAccuracy = coder.decodeDouble(forKey: "VerticalAccuracy")
        course = coder.decodeDouble(forKey: "Course")
        speed = coder.decodeDouble(forKey: "Speed")
        timestamp = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: "Timestamp"))
        super.init()
    }

    /// Writes all of it.
    public func encode(with coder: NSCoder) {
        coder.encode(coordinate.latitude, forKey: "Latitude")
        coder.encode(coordinate.longitude, forKey: "Longitude")
        coder.encode(altitude, forKey: "Altitude")
        coder.encode(horizontalAccuracy, forKey: "HorizontalAccuracy")
        coder.encode(verticalAccuracy, forKey: "VerticalAccuracy")
        coder.encode(course, forKey: "Course")
        coder.encode(speed, forKey: "Speed")
        coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: "Timestamp")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether all parts are equal.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CLLocation)?.parts == parts
    }

    /// Equal for equal locations.
    public override var hash: Int { parts.hashValue }

    /// For people to read.
    public override var description: String {
        "<CLLocation latitude=\(coordinate.latitude) longitude=\(coordinate.longitude)>"
    }

    private var parts: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed,
            timestamp.timeIntervalSinceReferenceDate,
        ]
    }
}
