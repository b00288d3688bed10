// SPDX-License-Identifier: Apache-2.0

import CloudKit
import CoreLocation
import Testing

/// Code that imports Core Location beside CloudKit: that it compiles is half of the test.
@Suite struct CLLocationTests {
    private struct Visit {
        let place: CLLocation
        let radius: CLLocationDistance
        var coordinate: CLLocationCoordinate2D { place.coordinate }
    }

    @Test func `R-060, R-075: a location of Core Location is that of a record`() {
        let visit = Visit(
            place: CoreLocation.CLLocation(
                coordinate: CLLocationCoordinate2DMake(64.1, -21.9), altitude: 12, horizontalAccuracy: 5,
                verticalAccuracy: 7, timestamp: Date(timeIntervalSince1970: 1)), radius: 100)
        let record = CKRecord(recordType: "Visit")
        record["place"] = visit.place
        let degrees: CLLocationDegrees = visit.coordinate.latitude
        #expect((record["place"] as? CLLocation)?.coordinate.latitude == degrees)
        #expect(CLLocationCoordinate2DIsValid(visit.coordinate))
        #expect(kCLLocationCoordinate2DInvalid.longitude == -180)
        let near = NSPredicate(
            format: "distanceToLocation:fromLocation:(place, %@) < %f", visit.place, visit.radius)
        #expect(CKQuery(recordType: "Visit", predicate: near).predicate === near)
    }
}
