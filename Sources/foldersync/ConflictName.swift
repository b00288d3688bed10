// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The name under which a file's other version is kept: `name (conflict, DEVICE, time).ext`, or after a restore of the
/// server `name (before the restore, VERSION).ext`.
enum ConflictName {
    /// - Parameter attempt: 0, then more if the name was taken.
    static func make(_ path: RelativePath, deviceName: String, time: Date, attempt: Int) -> RelativePath {
        let device = String(withoutSeparators(deviceName).prefix(64))
        return make(path, "conflict, \(device), \(stamp(time))", attempt)
    }

    /// For a version from before a restore, which several devices may have. The name is the same on all of them.
    static func make(_ path: RelativePath, version: String, attempt: Int) -> RelativePath {
        make(path, "before the restore, \(version.prefix(8))", attempt)
    }

    private static func make(_ path: RelativePath, _ why: String, _ attempt: Int) -> RelativePath {
        let name = path.name
        // A leading dot begins a hidden file's name, not an extension. Nor does one in the time of an earlier conflict.
        let lastDot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let dot = name[lastDot...].contains(where: { $0 == " " || $0 == ")" }) ? name.endIndex : lastDot
        let number = attempt == 0 ? "" : " \(attempt + 1)"
        let mark = " (\(why)\(number))"
        var (stem, ending) = (String(name[..<dot]), String(name[dot...]))
        // A name has at most 255 bytes.
        while stem.utf8.count + mark.utf8.count + ending.utf8.count > 255 {
            if stem.isEmpty { ending.removeLast() } else { stem.removeLast() }
        }
        return (path.directories.last ?? "").appending(stem + mark + ending)
    }

    /// Replaced scalar by scalar: for Linux, a "/" is one even with a combining mark behind it.
    private static func withoutSeparators(_ deviceName: String) -> String {
        let scalars = deviceName.unicodeScalars.map { scalar -> Unicode.Scalar in
            scalar == "/" || scalar == "\0" || Character(scalar).isNewline ? "-" : scalar
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func stamp(_ time: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH.mm.ss"
        return formatter.string(from: time)
    }
}
