// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// To an archive and back, with secure coding, as the class that it is.
func archived<Value: NSObject & NSSecureCoding>(_ value: Value) throws -> Value {
    let data = try NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Value.self, from: data))
}
