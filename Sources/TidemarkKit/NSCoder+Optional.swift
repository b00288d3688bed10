// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Reads values that an archive may lack. A keyed unarchiver that is asked for a missing key fails for good.
extension NSCoder {
    func optionalObject<Object: NSObject & NSCoding>(of type: Object.Type, forKey key: String) -> Object? {
        containsValue(forKey: key) ? decodeObject(of: type, forKey: key) : nil
    }

    func optionalString(forKey key: String) -> String? {
        optionalObject(of: NSString.self, forKey: key).map { String(describing: $0) }
    }

    func optionalBytes(forKey key: String) -> [UInt8]? {
        optionalObject(of: NSData.self, forKey: key).map(\.byteArray)
    }

    func optionalInt64(forKey key: String) -> Int64? {
        containsValue(forKey: key) ? decodeInt64(forKey: key) : nil
    }

    /// An array of strings.
    func optionalStrings(forKey key: String) -> [String]? {
        guard containsValue(forKey: key) else { return nil }
        return decodeObject(of: [NSArray.self, NSString.self], forKey: key) as? [String]
    }

    func encode(string: String?, forKey key: String) {
        if let string { encode(NSString(string: string), forKey: key) }
    }

    func encode(strings: [String]?, forKey key: String) {
        if let strings { encode(NSArray(array: strings.map { NSString(string: $0) }), forKey: key) }
    }

    func encode(bytes: [UInt8], forKey key: String) {
        encode(NSData(data: Data(bytes)), forKey: key)
    }
}

extension NSData {
    /// Copies in one step. A `Data` that wraps an object would be read byte by byte.
    var byteArray: [UInt8] {
        withExtendedLifetime(self) { [UInt8](UnsafeRawBufferPointer(start: bytes, count: length)) }
    }
}
