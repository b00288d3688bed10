// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkKit

/// A value for a `%@` of a predicate: `TYPE:VALUE` on a command line.
///
///     reference:IS   references:FI,SE,NO   location:64.1466,-21.9426   date:2024-05-31   string:50%   int:7   double:1.5
enum QueryArgument {
    /// - Parameter zoneName: the zone of the records that references lead to.
    /// - Throws: ``AdminFailure``, with a text that shows the form.
    static func object(_ text: String, zoneName: String) throws(AdminFailure) -> Any {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let object = object(parts[0], parts[1], zoneName) else {
            throw AdminFailure(
                .usage,
                "--argument takes reference:NAME, references:NAME,NAME, location:LATITUDE,LONGITUDE, date:2024-05-31, "
                    + "string:TEXT, int:NUMBER or double:NUMBER, not \(text).")
        }
        return object
    }

    private static func object(_ type: String, _ value: String, _ zoneName: String) -> Any? {
        switch type {
        case "reference": reference(value, zoneName)
        case "references": value.split(separator: ",").map { reference(String($0), zoneName) }
        case "location": location(value)
        case "date": DateText.date(value).map { Date(timeIntervalSinceReferenceDate: $0.secondsSince2001) }
        case "string": value
        case "int": Int64(value)
        case "double": Double(value)
        default: nil
        }
    }

    private static func reference(_ name: String, _ zoneName: String) -> CKRecord.Reference {
        let zoneID = CKRecordZone.ID(unchecked: zoneName, ownerName: CKCurrentUserDefaultName)
        return CKRecord.Reference(recordID: CKRecord.ID(recordName: name, zoneID: zoneID), action: .none)
    }

    /// Two numbers of degrees, separated by a comma.
    static func location(_ text: String) -> CLLocation? {
        let degrees = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard degrees.count == 2, let latitude = degrees[0], let longitude = degrees[1],
            latitude.magnitude <= 90, longitude.magnitude <= 180
        else { return nil }
        return CLLocation(latitude: latitude, longitude: longitude)
    }
}
