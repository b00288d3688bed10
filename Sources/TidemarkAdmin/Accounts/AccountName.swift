// SPDX-License-Identifier: Apache-2.0

/// Names of accounts, which people read and type on command lines.
package enum AccountName {
    package static func isValid(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            && !name.hasPrefix("-")
    }
}
