// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// The name of an account that a sign-in creates. It is for operators, and does not decide who may sign in.
///
/// An account that an operator has made keeps its name: the new one then gets a few digits more. So nobody comes into
/// another's account by a subject that looks like its name.
enum NewAccountName {
    /// A longer subject becomes digits.
    private static let subjectBytesMax = 128

    /// The name that is wanted, and one that nobody else has.
    static func names(prefix: String, subject: String, key: [UInt8]) -> (first: String, second: String) {
        let digits = Hex.encode(Array(key.suffix(16)))
        let isName =
            subject.utf8.count <= subjectBytesMax && subject.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && !(prefix.isEmpty && subject.hasPrefix("-"))
        return isName
            ? (prefix + subject, "\(prefix)\(subject)-\(digits)")
            : ("\(prefix)user-\(digits.prefix(16))", "\(prefix)user-\(digits)")
    }
}
