// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The name under which the other version of a file is kept: `name (conflict, DEVICE, time).ext`.
enum ConflictName {
    static func make(_ path: String, deviceName: String, time: Date, attempt: Int) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let directory = parts.dropLast().map { $0 + "/" }.joined()
        let name = parts.last.map(String.init) ?? path
        // A leading dot begins a hidden file's name, not an extension.
        let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
        let device = deviceName.map { $0 == "/" || $0.isNewline ? "-" : String($0) }.joined()
        let number = attempt == 0 ? "" : " \(attempt + 1)"
        let mark = " (conflict, \(device), \(stamp(time))\(number))"
        let ending = String(name[dot...])
        var stem = String(name[..<dot])
        while stem.utf8.count + mark.utf8.count + ending.utf8.count > 255, !stem.isEmpty { stem.removeLast() }
        return directory + stem + mark + ending
    }

    private static func stamp(_ time: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH.mm.ss"
        return formatter.string(from: time)
    }
}
